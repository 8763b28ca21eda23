"""An attempt's right to write: who may take a run, and what taking, renewing and handing back make of it.

The lease says when somebody else may try; what keeps two hands apart is the log (see `fence`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from chalicelib.core import slots
from chalicelib.core.answer import answered
from chalicelib.core.change import NOBODY_HOLDS_IT, Change
from chalicelib.core.cursor import following
from chalicelib.core.events import Stamp
from chalicelib.core.run import Run, Slot, Status, Trigger
from chalicelib.core.transitions import move

LEASE = timedelta(seconds=30)
RENEW_EVERY = timedelta(seconds=10)

UNHELD_GRACE = timedelta(seconds=60)
"""How long a run may lie without a holder (submitted, or handed back between slices) before a sweeper looks at it."""

LAPSED = "lapsed"
HANDED_OVER = "slice"


def held(run: Run, now: datetime) -> bool:
    """Whether somebody's hold on the run still counts."""
    return run.lease_until is not None and now < run.lease_until


def may_take(run: Run, now: datetime) -> bool:
    """Whether a worker may take the run: not an ended one, not one that is being cancelled or stands in line, not out
    of another's hands."""
    if run.slot is Slot.WANTED:
        return False
    match run.status:
        case Status.PENDING | Status.RUNNING | Status.STREAMING:
            return not held(run, now)
        case Status.WAITING:
            over = run.wake_at is not None and run.wake_at <= now
            return over or answered(run) or run.slot is Slot.HELD
        case _:
            return False


def take(run: Run, *, tail: int, now: datetime, write_id: str) -> Change:
    """The next attempt on the run. The number rises at every taking, between slices too."""
    attempt = run.attempt + 1
    until = now + LEASE
    return move(
        run,
        Trigger.TAKE,
        tail=tail,
        stamp=Stamp(now, attempt, write_id),
        data={"attempt": attempt, "reason": _reason(run)},
        guards=NOBODY_HOLDS_IT,
        attempt=attempt,
        lease_until=until,
        due_at=until,
    )


def _reason(run: Run) -> str:
    if run.waiting_for == slots.SLOT:
        return slots.SLOT
    if run.status is Status.WAITING:
        return "answered" if answered(run) else "wait over"
    if run.attempt == 0:
        return "submitted"
    return HANDED_OVER if run.lease_until is None else LAPSED


def renewed(run: Run, now: datetime) -> Run:
    """The run with its lease prolonged from `now`."""
    return replace(run, lease_until=now + LEASE, due_at=now + LEASE)


def handed_back(run: Run, now: datetime) -> Run:
    """The run without its holder, between two slices."""
    return replace(run, lease_until=None, due_at=now + UNHELD_GRACE)


def lined_up(run: Run, now: datetime) -> Run:
    """The run that has not begun, in line for a slot of its account."""
    return replace(run, slot=Slot.WANTED, due_at=now)


def line_up(run: Run, *, tail: int, stamp: Stamp) -> Change:
    """The same for a run whose wait is over: it waits on, for its turn, and for nothing else."""
    return move(
        run,
        Trigger.WAIT,
        tail=tail,
        stamp=stamp,
        data={"for": slots.SLOT, "until": None, "detail": None},
        waiting_for=slots.SLOT,
        waiting_seq=following(tail),
        wake_at=None,
        due_at=stamp.at,
        slot=Slot.WANTED,
    )
