"""Look after the slots of accounts: free those of runs that are not at work, and begin who is first in line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from chalicelib.core.lease import UNHELD_GRACE
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.admit import admit
from chalicelib.usecases.tour import Tour

ACCOUNTS_PER_TICK = 50
"""The rest is still due at the next tick."""


@dataclass(frozen=True, slots=True)
class Tended:
    """What a tick did: accounts looked at, slots freed that were nobody's, runs begun that stood in line."""

    accounts: int
    freed: int
    begun: int


def tend(
    *,
    runs: RunStore,
    slots: SlotStore,
    workflow: Workflow,
    clock: Clock,
    limit: int = ACCOUNTS_PER_TICK,
    until: datetime | None = None,
) -> Tended:
    """Look after the accounts with runs at work, the longest overdue first, until the time is up. Raises what went
    wrong, after each of them had its turn."""
    tour = Tour("tend", clock=clock, until=until)
    accounts = freed = begun = 0
    for account_id in tour.past(slots.to_tend(clock.now(), limit)):
        stale = partial(free_stale, account_id, runs=runs, slots=slots)
        line = partial(admit, account_id, runs=runs, slots=slots, workflow=workflow, clock=clock)
        again = partial(slots.look_again, account_id, clock.now() + UNHELD_GRACE)
        freed += tour.alone(stale, account_id=account_id) or 0
        begun += tour.alone(line, account_id=account_id) or 0
        # Whatever became of them: an account that always fails goes to the end of the queue like the others.
        tour.alone(again, account_id=account_id)
        accounts += 1
    tour.end()
    return Tended(accounts, freed, begun)


def free_stale(account_id: str, *, runs: RunStore, slots: SlotStore) -> int:
    """Free the slots of runs that have no right to one; how many these were. Each is freed as it was read, or not."""
    found, freed = slots.slots(account_id), 0
    for run_id in found.named:
        run = runs.look_up(run_id)
        if found.holds_too_long(run_id, run):
            freed += slots.free(account_id, run_id, run)
    return freed
