"""The executions that are running, as Step Functions lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.aws.step_functions import StepFunctionsWorkflow
from chalicelib.core.errors import InvalidInput, WorkflowUnavailable
from chalicelib.ports.workflow import Execution
from tests.builders import run_id
from tests.patience import await_true

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

DEFINITION = '{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": true}}}'
ROLE = "arn:aws:iam::123456789012:role/loop"


@pytest.fixture
def stepfunctions(aws: None) -> SFNClient:
    return client("stepfunctions")


@pytest.fixture
def machine(stepfunctions: SFNClient) -> Iterator[str]:
    made = stepfunctions.create_state_machine(name="loop", definition=DEFINITION, roleArn=ROLE)
    yield made["stateMachineArn"]
    stepfunctions.delete_state_machine(stateMachineArn=made["stateMachineArn"])


@pytest.fixture
def workflow(stepfunctions: SFNClient, machine: str) -> StepFunctionsWorkflow:
    return StepFunctionsWorkflow(stepfunctions, machine)


def test_what_runs_is_listed_page_by_page_as_run_and_start_and_since_when(
    workflow: StepFunctionsWorkflow, stepfunctions: SFNClient, machine: str
) -> None:
    for number in range(5):
        workflow.start(run_id(number), number + 1)
    over = stepfunctions.start_execution(stateMachineArn=machine, name=f"{run_id(7)}-1")
    stepfunctions.stop_execution(executionArn=over["executionArn"])
    # moto stops an execution on a thread of its own.
    await_true(
        lambda: stepfunctions.describe_execution(executionArn=over["executionArn"])["status"] != "RUNNING", seconds=10
    )
    stepfunctions.start_execution(stateMachineArn=machine, name="by-hand")

    found: list[Execution] = []
    pages, place = 0, None
    while pages == 0 or place is not None:
        page, place = workflow.running(2, place)
        found += page
        pages += 1

    assert pages == 3
    assert sorted(each[:2] for each in found) == [(run_id(number), number + 1) for number in range(5)]
    told = {
        each["name"]: each["startDate"] for each in stepfunctions.list_executions(stateMachineArn=machine)["executions"]
    }
    assert all(each.began_at == told[f"{each.run_id}-{each.start}"] for each in found)


def test_a_place_that_no_page_gave_is_refused(workflow: StepFunctionsWorkflow) -> None:
    with pytest.raises(InvalidInput) as refused:
        workflow.running(2, "nowhere")

    assert refused.value.code == "invalid_next"


def test_a_list_that_does_not_come_is_unavailable(stepfunctions: SFNClient) -> None:
    elsewhere: Any = StepFunctionsWorkflow(stepfunctions, "arn:aws:states:us-east-1:123456789012:stateMachine:none")

    with pytest.raises(WorkflowUnavailable):
        elsewhere.running(2, None)
