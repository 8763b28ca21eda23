"""Step Functions, as far as a run needs it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol


class Execution(NamedTuple):
    """An execution that is running: of which run, its number, and since when."""

    run_id: str
    start: int
    began_at: datetime


class Workflow(Protocol):
    def start(self, run_id: str, start: int) -> None:
        """Begin execution number `start` of the run; the same one twice is one. Raises `WorkflowUnavailable`."""

    def wake(self, token: str) -> None:
        """End the wait that `token` stands for. A token that is settled already is no fault."""

    def running(self, limit: int, after: str | None) -> tuple[Sequence[Execution], str | None]:
        """A page of the executions that are running, and where the next page begins.

        Raises `InvalidInput` for a place that no page gave, and `WorkflowUnavailable`.
        """
