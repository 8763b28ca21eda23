"""Delete a run that has ended: nobody sees it from now on, and the tick erases it when nobody can write to it."""

from __future__ import annotations

from chalicelib.core.account import owned
from chalicelib.core.errors import Conflict
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore


def delete_run(run_id: str, *, account_id: str, runs: RunStore, clock: Clock) -> None:
    """Mark the run. Again, as long as it is not erased, is no fault. Raises `NotFound`, and `Conflict` while it goes
    on."""
    found = runs.look_up(run_id)
    if found is not None and found.deleted_at and found.account_id == account_id:
        return
    run = owned(found, account_id)
    if not run.status.terminal:
        detail = f"the run is {run.status}; cancel it first, and delete it once it has ended"
        raise Conflict("run_not_over", detail)
    runs.delete(run, clock.now())
