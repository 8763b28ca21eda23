"""Step Functions, whose calls can be struck like any others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ConnectionClosedError

from chalicelib.ports.workflow import Execution
from tests.crash.killer import Killer
from tests.usecases.workshop import RecordingWorkflow


@dataclass
class ArmedWorkflow(RecordingWorkflow):
    """Its calls are calls to AWS as well. One that lost its answer is made again, as by botocore, for nothing."""

    killer: Killer = field(default_factory=Killer)
    over: set[tuple[str, int]] = field(default_factory=set)
    """The executions that have ended."""

    def running(self, limit: int, after: str | None) -> tuple[list[Execution], str | None]:
        return [Execution(*one, self.began_at) for one in self.started if one not in self.over], None

    def start(self, run_id: str, start: int) -> None:
        self._call("start_execution", self.started, (run_id, start))

    def wake(self, token: str) -> None:
        self._call("send_task_success", self.woken, token)

    def _call(self, name: str, known: list[Any], told: object) -> None:
        try:
            self.killer.call(name, lambda: known.append(told), {})
        except ConnectionClosedError:
            self.killer.call(name, lambda: None, {})
