"""End the wait of a run's execution, after what ends it stands in the log."""

from __future__ import annotations

import logging

from chalicelib.core.errors import WorkflowUnavailable
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow

log = logging.getLogger(__name__)


def wake(run_id: str, *, runs: RunStore, workflow: Workflow) -> None:
    """Send the run's token. It is read after the commit: one that comes later finds the answer there.

    An execution that nobody wakes, because the token was refused or its sender died, is the sweeper's to replace.
    """
    found = runs.tail(run_id)
    if found is None or found[0].token is None:
        return
    try:
        workflow.wake(found[0].token)
    except WorkflowUnavailable:
        log.warning("wake-up refused", extra={"action": "wake", "run_id": run_id})
