"""End the wait of a run's execution, after what ends it stands in the log."""

from __future__ import annotations

import logging

from chalicelib.core.errors import WorkflowUnavailable
from chalicelib.core.run import Run
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow

log = logging.getLogger(__name__)


def wake(run_id: str, *, runs: RunStore, workflow: Workflow) -> None:
    """Send the run's token. It is read after the commit: one that comes later finds the answer there.

    An execution that nobody wakes, because the token was refused or its sender died, is the sweeper's to replace.
    """
    found = runs.tail(run_id)
    if found is not None:
        send(found[0], workflow)


def send(run: Run, workflow: Workflow) -> None:
    """Send the run's token, if it has one, as it was read."""
    if run.token is None:
        return
    try:
        workflow.wake(run.token)
    except WorkflowUnavailable:
        log.warning("wake-up refused", extra={"action": "wake", "run_id": run.run_id})
