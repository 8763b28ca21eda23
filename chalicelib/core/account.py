"""Accounts do not see each other: a run of another account is not there. Nobody sees a run that was deleted."""

from __future__ import annotations

from chalicelib.core.errors import NotFound
from chalicelib.core.run import Run


def no_such_run() -> NotFound:
    """What is said of a run that is nowhere, and of one that is somebody else's, or was deleted."""
    return NotFound("run_not_found", "this account has no run of that id")


def no_such_agent() -> NotFound:
    """What is said of an agent that is nowhere, and of one that is somebody else's."""
    return NotFound("agent_not_found", "this account has no agent of that name and version")


def owned(run: Run | None, account_id: str) -> Run:
    """The run, if it is the account's. Raises `NotFound`."""
    if run is None or run.account_id != account_id or run.deleted_at:
        raise no_such_run()
    return run
