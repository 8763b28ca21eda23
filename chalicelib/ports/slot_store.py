"""The slots of accounts: which runs are at work at once, and which stand in line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.core.run import Run
from chalicelib.core.slots import Slots


class SlotStore(Protocol):
    """Slots are taken and freed by the writes of runs (see `RunStore`); this is for whoever looks after them."""

    def slots(self, account_id: str) -> Slots:
        """The account's slots, read strongly."""

    def line(self, account_id: str, limit: int) -> Sequence[Run]:
        """The first runs in line: those whose wait is over, then those that have not begun, the older first.

        Who stands there is eventually consistent; that each of them still does was read strongly.
        """

    def free(self, account_id: str, run_id: str, run: Run | None) -> bool:
        """Take the run off the slots, if it still is what was read; whether it was."""

    def forget_line(self, slots: Slots) -> None:
        """Note that nobody stands in line, unless somebody has lined up since the slots were read."""

    def to_tend(self, now: datetime, limit: int) -> Sequence[str]:
        """The accounts whose slots are to be looked at, the longest overdue first."""

    def look_again(self, account_id: str, at: datetime) -> None:
        """List the slots for that time; from slots of which nothing is left, nobody is to be looked for any more."""
