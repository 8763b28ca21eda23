"""Slots: how many runs of an account are at work at once, and which one comes next. DESIGN sections 3, 5 and 11.10.

A run takes a slot with its first hold, keeps it between slices, and frees it with its wait or its end: each in the very
transaction that tells of it. A run that finds none stands in line, and whoever frees one gives it to the first in line.
A run whose wait is over goes before those that have not begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.core.run import Run, Slot, Status

SLOT = "slot"
"""What a run waits for whose own wait is over."""

CAP = 100
"""How many runs of an account are at work at once, where a deployment says nothing else."""

MOST = 1_000
"""What a deployment may say: an account's slots are one item, written whole with each run that comes or goes."""

SETTLED = timedelta(seconds=30)
"""After so long an index shows what was written."""


class Use(StrEnum):
    """What a change of a run does to the slots of its account."""

    TAKE = "take"
    FREE = "free"
    LINE_UP = "line_up"


@dataclass(frozen=True, slots=True)
class Slots:
    """The runs of an account that are at work, and those in line before all new ones, since their wait is over.

    `lined_up_at`: when somebody last found no slot; None once the line is known to be empty. `looked_after`: whether
    the minute's tick comes by.
    """

    account_id: str
    holders: frozenset[str] = frozenset()
    resuming: frozenset[str] = frozenset()
    lined_up_at: datetime | None = None
    looked_after: bool = False

    @property
    def named(self) -> list[str]:
        """Every run that stands in them."""
        return sorted(self.holders | self.resuming)

    def line_may_be_forgotten(self, now: datetime) -> bool:
        """Whether an index that shows nobody in line can be believed."""
        return self.lined_up_at is not None and not self.resuming and now - self.lined_up_at > SETTLED

    def has(self, run: Run) -> bool:
        """Whether they say of the run what it says itself."""
        if run.slot is Slot.HELD:
            return run.run_id in self.holders
        return run.slot is None or not resumes(run) or run.run_id in self.resuming

    def holds_too_long(self, run_id: str, run: Run | None) -> bool:
        """Whether the run stands in them, and no longer ought to."""
        wanted = run.slot if run else None
        return (run_id in self.holders and wanted is not Slot.HELD) or (
            run_id in self.resuming and wanted is not Slot.WANTED
        )


def after(run: Run, to: Status) -> Slot | None:
    """The run's slot once it has that status."""
    if to is Status.RUNNING:
        return Slot.HELD
    return run.slot if to in (Status.STREAMING, Status.CANCELLING) else None


_AT_WORK = frozenset({Status.RUNNING, Status.STREAMING, Status.CANCELLING})


def fits(run: Run) -> bool:
    """Whether the run has the slot that its status wants: whoever is at work holds one, whoever has ended has none."""
    if run.status in _AT_WORK:
        return run.slot is Slot.HELD
    if run.waiting_for == SLOT:
        return run.slot is not None
    return run.slot is None or run.status is Status.PENDING


def use(before: Run, after: Run) -> Use | None:
    """What is to be written of the account's slots together with the run; None for nothing.

    A new run in line is listed by itself alone, so that its end leaves nothing to be freed.
    """
    if before.slot is after.slot:
        return None
    if after.slot is not None:
        return Use.TAKE if after.slot is Slot.HELD else Use.LINE_UP
    return Use.FREE if before.slot is Slot.HELD or resumes(before) else None


def resumes(run: Run) -> bool:
    """Whether the run goes before all that have not begun."""
    return run.status is Status.WAITING
