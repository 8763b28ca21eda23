"""Confirm a cancel in the place of a holder who is not there any more."""

from __future__ import annotations

from chalicelib.core import cancelling, lease
from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.errors import Race
from chalicelib.core.events import OUTSIDE, Event, Stamp
from chalicelib.core.run import Run, Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.admit import admit


def confirm(run_id: str, *, runs: RunStore, slots: SlotStore, workflow: Workflow, clock: Clock, chance: Chance) -> bool:
    """End the run if it is being cancelled and its lease has lapsed; whether it was ended here."""
    run, log = runs.remains(run_id)
    if run is None or run.status is not Status.CANCELLING or lease.held(run, clock.now()):
        return False
    if not _end(run, log, runs, clock, chance):
        return False
    admit(run.account_id, runs=runs, slots=slots, workflow=workflow, clock=clock)
    return True


def _end(run: Run, log: list[Event], runs: RunStore, clock: Clock, chance: Chance) -> bool:
    """False if somebody else came first, who then ends it."""
    try:
        stamp = Stamp(clock.now(), OUTSIDE, chance.write_id())
        runs.commit(cancelling.confirm(run, log, stamp=stamp, guards=NOBODY_HOLDS_IT))
    except Race:
        return False
    return True
