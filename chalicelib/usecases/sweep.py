"""The minute's tick: whatever was left lying is put back, whoever left it.

Two sweepers at once do no harm: each settlement is a conditional write, and the second one's fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from chalicelib.core import lease
from chalicelib.core.run import Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.restart import restart
from chalicelib.usecases.tour import Tour

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
    until: datetime | None = None,
) -> Swept:
    """Look at the runs that are due, the longest overdue first, until the time is up. Raises what went wrong, after
    each of them had its turn."""
    tour = Tour("sweep", clock=clock, until=until)
    due = [run for run in runs.due(clock.now(), limit) if not lease.held(run, clock.now())]
    end = partial(confirm, runs=runs, slots=slots, workflow=workflow, clock=clock, chance=chance)
    begin = partial(restart, runs=runs, workflow=workflow, clock=clock)
    restarted = confirmed = 0
    for run in tour.past(due):
        if run.status is Status.CANCELLING:
            confirmed += tour.alone(partial(end, run.run_id), run_id=run.run_id) or False
        else:
            restarted += tour.alone(partial(begin, run), run_id=run.run_id) or False
    tour.end()
    return Swept(len(due), restarted, confirmed)
