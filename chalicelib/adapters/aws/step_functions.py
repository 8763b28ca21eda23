"""Executions of the agent loop in Step Functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core import ids
from chalicelib.core.errors import InvalidInput, WorkflowUnavailable
from chalicelib.ports.workflow import Execution

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_SETTLED = frozenset({"InvalidToken", "TaskTimedOut", "TaskDoesNotExist"})
"""The wait is over by another answer, by its own timeout, or because its execution is gone."""


class StepFunctionsWorkflow:
    """A `Workflow`."""

    def __init__(self, client: SFNClient, state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def start(self, run_id: str, start: int) -> None:
        name = ids.execution_name(run_id, start)
        state = json.dumps({"run_id": run_id, "start": start, "lap": 0})
        try:
            self._client.start_execution(stateMachineArn=self._arn, name=name, input=state)
        except (ClientError, BotoCoreError) as fault:
            if _code(fault) != "ExecutionAlreadyExists":
                raise WorkflowUnavailable(f"{name} was not started: {fault}") from fault

    def wake(self, token: str) -> None:
        try:
            self._client.send_task_success(taskToken=token, output="{}")
        except (ClientError, BotoCoreError) as fault:
            if _code(fault) not in _SETTLED:
                raise WorkflowUnavailable(f"the wait was not ended: {fault}") from fault

    def running(self, limit: int, after: str | None) -> tuple[Sequence[Execution], str | None]:
        place: dict[str, Any] = {"nextToken": after} if after else {}
        try:
            found = self._client.list_executions(
                stateMachineArn=self._arn, statusFilter="RUNNING", maxResults=limit, **place
            )
        except (ClientError, BotoCoreError) as fault:
            if _code(fault) == "InvalidToken":
                raise InvalidInput(
                    "invalid_next",
                    "next is not one that an answer gave",
                    field="next",
                    expected="the next of an answer",
                ) from fault
            raise WorkflowUnavailable(f"the executions were not listed: {fault}") from fault
        named = ((ids.read_execution_name(each["name"]), each["startDate"]) for each in found["executions"])
        return [Execution(*name, began_at) for name, began_at in named if name], found.get("nextToken")


def _code(fault: Exception) -> str | None:
    """The service's own word for what went wrong; None where no answer came at all."""
    return fault.response["Error"]["Code"] if isinstance(fault, ClientError) else None
