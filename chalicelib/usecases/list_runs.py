"""An account's runs, newest first."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.run import Run, Status
from chalicelib.ports.run_store import RunStore


def list_runs(
    *, account_id: str, status: Status | None, limit: int, after: str | None, runs: RunStore
) -> tuple[Sequence[Run], str | None]:
    """A page of the account's runs, and where the next one begins. It may lag behind by a moment."""
    return runs.of_account(account_id, status, limit, after)
