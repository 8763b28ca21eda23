"""Keep what wakes a waiting execution."""

from __future__ import annotations

from chalicelib.core.answer import answered
from chalicelib.core.errors import RunMoved
from chalicelib.core.run import Run, Status
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow


def await_answer(run_id: str, start: int, token: str, *, runs: RunStore, workflow: Workflow) -> None:
    """Keep the token if the run still waits, in this execution; otherwise wake the execution at once.

    An answer and the token cross in either order: the answer is written first and the token read strongly after it,
    and the token is kept on the condition that the wait still stands.
    """
    found = runs.tail(run_id)
    if found is None or not _waits(found[0], start):
        workflow.wake(token)
        return
    try:
        runs.keep_token(found[0], token)
    except RunMoved:
        workflow.wake(token)


def _waits(run: Run, start: int) -> bool:
    return run.status is Status.WAITING and run.start == start and not answered(run)
