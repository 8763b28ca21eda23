"""The minute's tick: whatever was left lying is put back, whoever left it.

Two sweepers at once do no harm: each settlement is a conditional write, and the second one's fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.core import lease
from chalicelib.core.run import Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.restart import restart

RUNS_PER_TICK = 200
"""The rest is still due at the next tick."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a tick did: runs that were due, those given a new execution, and cancels confirmed."""

    due: int
    restarted: int
    confirmed: int


def sweep(
    *,
    runs: RunStore,
    slots: SlotStore,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
    limit: int = RUNS_PER_TICK,
) -> Swept:
    """Look at the runs that are due, the longest overdue first."""
    due = [run for run in runs.due(clock.now(), limit) if not lease.held(run, clock.now())]
    cancelled = [run for run in due if run.status is Status.CANCELLING]
    others = [run for run in due if run.status is not Status.CANCELLING]
    return Swept(
        due=len(due),
        restarted=sum(restart(run, runs=runs, workflow=workflow, clock=clock) for run in others),
        confirmed=sum(
            confirm(run.run_id, runs=runs, slots=slots, workflow=workflow, clock=clock, chance=chance)
            for run in cancelled
        ),
    )
