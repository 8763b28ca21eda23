"""Give a run a new execution as soon as its own has ended under it. The sweeper does the same, a minute later."""

from __future__ import annotations

from chalicelib.core.run import Status
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.restart import restart


def put_back(run_id: str, start: int, *, runs: RunStore, workflow: Workflow, clock: Clock) -> bool:
    """Restart the run if execution number `start` was its last one and the run goes on; whether it was."""
    found = runs.tail(run_id)
    if found is None:
        return False
    run = found[0]
    if run.start != start or run.status.terminal or run.status is Status.CANCELLING:
        return False
    return restart(run, runs=runs, workflow=workflow, clock=clock)
