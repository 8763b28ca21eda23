"""Where old runs are archived, and deleted ones erased. The only port through which an event is ever deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.core.events import Event
from chalicelib.core.run import Run


class ArchiveStore(Protocol):
    """Everything here may be done twice, and by two ticks at once."""

    def old(self, ended_until: datetime, limit: int) -> Sequence[Run]:
        """At most `limit` runs that are listed as ended by then, the oldest first. The list lags, and is coarse."""

    def put_off(self, run: Run, until: datetime) -> None:
        """List a run that `old` or `deleted` gave as if it had ended, or were to be erased, only at that time. One that
        is archived by now, or deleted since it was read, stays where it is."""

    def keep(self, run: Run, snapshot: Event) -> None:
        """Keep the archive of the run. The first one stands."""

    def delete_events(self, run_id: str, limit: int) -> int:
        """Delete the first `limit` events of what is left of the log, in their order; how many there were."""

    def delete_payloads(self, run_id: str) -> None:
        """Delete what the run's events had put into the payload store."""

    def close(self, run: Run, at: datetime) -> None:
        """Note that nothing of the run's log is left. The first time stands."""

    def deleted(self, until: datetime, limit: int) -> Sequence[Run]:
        """At most `limit` runs that are listed as to be erased by then, the earliest first. The list lags, and is
        coarse."""

    def delete_archive(self, run_id: str) -> None:
        """Delete the run's archive, if it has one."""

    def delete_run(self, run_id: str) -> None:
        """Delete the run itself, if it was asked to go. Nothing of it is found after that: this comes last."""
