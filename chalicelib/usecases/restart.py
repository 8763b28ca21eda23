"""Give a run a new execution."""

from __future__ import annotations

import logging
from datetime import timedelta

from chalicelib.core import lease
from chalicelib.core.errors import NoSlot, RunMoved, WorkflowUnavailable
from chalicelib.core.run import Run
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.wake import send

LONGEST_GRACE = timedelta(minutes=15)

log = logging.getLogger(__name__)


def restart(run: Run, *, runs: RunStore, workflow: Workflow, clock: Clock) -> bool:
    """Begin another execution of the run; False if somebody else did, or Step Functions took none, or it must wait in
    line for its turn.

    The older one may sleep yet: who answered died before the wake-up. It is woken, finds itself too old, and ends.
    """
    try:
        begun = begin_anew(run, runs=runs, workflow=workflow, clock=clock)
    except (RunMoved, NoSlot):
        return False
    send(run, workflow)
    return begun


def begin_anew(run: Run, *, runs: RunStore, workflow: Workflow, clock: Clock) -> bool:
    """Count the run's starts up, then begin that execution; False if Step Functions took none. A run in line is through
    with that: it gets a slot. Raises `RunMoved` and `NoSlot`.

    The older execution, if there still is one, finds itself too old and ends. Each start gives the next one longer, so
    that a platform which begins nothing for an hour does not find sixty executions of each run when it comes back.
    """
    grace = min(lease.UNHELD_GRACE * 2 ** min(run.start, 8), LONGEST_GRACE)
    started = runs.raise_start(run, clock.now() + grace)
    try:
        workflow.start(run.run_id, started.start)
    except WorkflowUnavailable:
        log.warning("start refused, the sweeper will try again", extra={"action": "restart", "run_id": run.run_id})
        return False
    return True
