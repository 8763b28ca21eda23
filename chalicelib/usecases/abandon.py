"""Settle a run whose `Advance` failed for good."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.core import cancelling, lease, settle
from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.errors import PayloadMissing, Race, Unavailable
from chalicelib.core.events import OUTSIDE, Stamp
from chalicelib.core.run import Run, Slot, Status, Trigger
from chalicelib.core.transitions import TRANSITIONS, move
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.admit import admit

PLATFORM_FAULTS = ("Lambda.", "States.", "Sandbox.", "Runtime.", "Unavailable", "WorkflowUnavailable")
"""Errors that say nothing about the run: it stays as it is, and the end of its execution gives it a new one."""

_STILL_ITS_OWN = (*NOBODY_HOLDS_IT, "start")
"""A start in between gives the run to another execution, which has done nothing wrong."""

_MAY_FAIL = frozenset({Status.PENDING, Status.RUNNING, Status.STREAMING})

UNREADABLE = PayloadMissing.__name__
"""What Step Functions calls the fault of a log that nobody can go on from. A run that waits ends by it as well."""


def abandon(
    run_id: str,
    start: int,
    error: str,
    *,
    runs: RunStore,
    slots: SlotStore,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> bool:
    """Fail the run, if it is this execution's, nobody holds it and it asks nothing; whether it was failed.

    One whose log can't be read fails whatever it asks. Raises `Unavailable` while such a run is held: its holder may be
    dead, and another execution would only come as far as this one.
    """
    run, log = runs.remains(run_id)
    if run is None or run.start != start or error.startswith(PLATFORM_FAULTS) or not _may_fail(run, error):
        return False
    if lease.held(run, clock.now()):
        if error == UNREADABLE:
            raise Unavailable(f"{run_id} is held until {run.lease_until}, and can be ended after that")
        return False
    try:
        stamp = Stamp(clock.now(), OUTSIDE, chance.write_id())
        data = {"error": _told(error), "unsettled": cancelling.unsettled(log)}
        owed, tail = settle.owed(run_id, log, stamp), log[-1].seq
        runs.commit(move(run, Trigger.FAIL, tail=tail, stamp=stamp, data=data, guards=_STILL_ITS_OWN, owed=owed))
    except Race:
        return False
    admit(run.account_id, runs=runs, slots=slots, workflow=workflow, clock=clock)
    return True


def _may_fail(run: Run, error: str) -> bool:
    if error == UNREADABLE:
        return Trigger.FAIL in TRANSITIONS[run.status]
    return run.status in _MAY_FAIL and run.slot is not Slot.WANTED


def _told(error: str) -> Mapping[str, str]:
    if error == UNREADABLE:
        return {"code": PayloadMissing.code, "detail": PayloadMissing.detail}
    return {"code": "internal", "detail": f"the runtime failed: {error}"}
