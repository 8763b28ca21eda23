"""A slot of an account was freed: begin whoever is first in line."""

from __future__ import annotations

from chalicelib.core.errors import NoSlot, RunMoved
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.restart import begin_anew

AT_ONCE = 10
"""How many are begun by one look. Whoever frees another slot looks again, and so does the sweeper."""


def admit(account_id: str, *, runs: RunStore, slots: SlotStore, workflow: Workflow, clock: Clock) -> int:
    """Give the account's free slots to those in line, in their order; how many were begun."""
    found = slots.slots(account_id)
    if found.lined_up_at is None and not found.resuming:
        return 0
    line = slots.line(account_id, AT_ONCE)
    if not line and found.line_may_be_forgotten(clock.now()):
        slots.forget_line(found)
    begun = 0
    for run in line:
        try:
            begun += begin_anew(run, runs=runs, workflow=workflow, clock=clock)
        except RunMoved:
            continue
        except NoSlot:
            break
    return begun
