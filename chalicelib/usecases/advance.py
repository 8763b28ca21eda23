"""Carry a run on: take it, do what is next until a slice is used up, and say where its execution goes."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from chalicelib.core import lease
from chalicelib.core.errors import LeaseLost, NoSlot, Race, RunMoved
from chalicelib.core.events import OUTSIDE, Event, Stamp
from chalicelib.core.run import Run, Slot, Status
from chalicelib.usecases.admit import admit
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.hold import Hold
from chalicelib.usecases.restart import begin_anew
from chalicelib.usecases.route import A_MOMENT, END, Route, of_unheld
from chalicelib.usecases.work import Needs, Slice, Worker

logger = logging.getLogger(__name__)

LAPS_PER_EXECUTION = 1_500
"""A lap is at most 14 history events (Advance 5, Route 2, a wait for an answer 7); an execution may have 25,000."""


def advance(run_id: str, start: int, lap: int, slice: Slice, *, needs: Needs) -> Route:
    """Do a slice of the run's work. An older start than the run's touches nothing."""
    killed_at = needs.clock.now() + timedelta(seconds=slice.seconds)
    run, log = needs.runs.log(run_id)
    if run is None or run.start != start or run.status.terminal or run.slot is Slot.WANTED:
        return END
    if lap >= LAPS_PER_EXECUTION:
        return _hand_over(run, needs)
    now = needs.clock.now()
    if run.status is Status.CANCELLING and not lease.held(run, now):
        _confirm(run_id, needs)
        return A_MOMENT
    if not lease.may_take(run, now):
        return of_unheld(run, now)
    return _take_and_work(run, log, slice, killed_at, needs)


def _hand_over(run: Run, needs: Needs) -> Route:
    """Let another execution go on: this one's history is nearly full. Whoever moved the run meanwhile may be about to
    leave it to this one, so that it looks again."""
    try:
        begin_anew(run, runs=needs.runs, workflow=needs.workflow, clock=needs.clock)
    except RunMoved:
        return A_MOMENT
    return END


def _take_and_work(run: Run, log: list[Event], slice: Slice, killed_at: datetime, needs: Needs) -> Route:
    taking = lease.take(run, tail=log[-1].seq, now=needs.clock.now(), write_id=needs.chance.write_id())
    try:
        needs.runs.commit(taking)
    except Race:
        return A_MOMENT
    except NoSlot:
        return _line_up(run, log, needs)
    hold = Hold(
        taking.after,
        [*log, taking.event],
        runs=needs.runs,
        clock=needs.clock,
        chance=needs.chance,
        crew=needs.crew,
    )
    try:
        route = Worker(hold, slice, killed_at, needs).work()
    except LeaseLost as lost:
        told = {"action": "advance", "run_id": run.run_id, "attempt": taking.after.attempt}
        logger.warning("the hold was lost: %s", lost, extra=told)
        return A_MOMENT
    if hold.run.slot is None:
        _admit(run.account_id, needs)
    return route


def _line_up(run: Run, log: list[Event], needs: Needs) -> Route:
    """Stand in line for a slot. This execution ends: whoever frees a slot begins the next."""
    now = needs.clock.now()
    try:
        if run.status is Status.PENDING:
            needs.runs.line_up(lease.lined_up(run, now))
        else:
            stamp = Stamp(now, OUTSIDE, needs.chance.write_id())
            needs.runs.commit(lease.line_up(run, tail=log[-1].seq, stamp=stamp))
    except Race:
        return A_MOMENT
    return END


def _confirm(run_id: str, needs: Needs) -> None:
    confirm(
        run_id,
        runs=needs.runs,
        slots=needs.slots,
        workflow=needs.workflow,
        clock=needs.clock,
        chance=needs.chance,
    )


def _admit(account_id: str, needs: Needs) -> None:
    admit(account_id, runs=needs.runs, slots=needs.slots, workflow=needs.workflow, clock=needs.clock)
