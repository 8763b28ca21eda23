"""Executions in Step Functions: begun, woken, listed, and what becomes of each way in which that fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from botocore.stub import Stubber

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


ENDPOINT = "https://states.us-east-1.amazonaws.com"
LOOP = "arn:aws:states:us-east-1:123456789012:stateMachine:loop"
RUN_ID = run_id(1)
DEAD = [
    EndpointConnectionError(endpoint_url=ENDPOINT),
    ConnectTimeoutError(endpoint_url=ENDPOINT),
    ReadTimeoutError(endpoint_url=ENDPOINT),
    NoCredentialsError(),
]
CALLS: dict[str, Callable[[StepFunctionsWorkflow], object]] = {
    "start_execution": lambda workflow: workflow.start(RUN_ID, 3),
    "send_task_success": lambda workflow: workflow.wake("token"),
    "list_executions": lambda workflow: workflow.running(10, "place"),
}
FINE = {
    "start_execution": {"ExecutionAlreadyExists"},
    "send_task_success": {"InvalidToken", "TaskTimedOut", "TaskDoesNotExist"},
    "list_executions": set[str](),
}
CODES = [
    *("ThrottlingException", "ServiceUnavailable", "AccessDeniedException", "ExecutionLimitExceeded"),
    *("StateMachineDoesNotExist", "InvalidOutput", "KmsThrottlingException"),
    *("ExecutionAlreadyExists", "InvalidToken", "TaskTimedOut", "TaskDoesNotExist"),
]
OTHERS = [(call, code) for call in CALLS for code in CODES if code not in FINE[call]]
OTHERS.remove(("list_executions", "InvalidToken"))


@pytest.fixture
def loop(stepfunctions: SFNClient) -> StepFunctionsWorkflow:
    """A workflow whose service is a stub."""
    return StepFunctionsWorkflow(stepfunctions, LOOP)


@pytest.mark.parametrize(("call", "code"), [(call, code) for call, codes in FINE.items() for code in sorted(codes)])
def test_what_has_been_done_or_settled_before_is_no_fault(
    call: str, code: str, stepfunctions: SFNClient, loop: StepFunctionsWorkflow
) -> None:
    with Stubber(stepfunctions) as stub:
        stub.add_client_error(call, code, http_status_code=400)
        assert CALLS[call](loop) is None
        stub.assert_no_pending_responses()


@pytest.mark.parametrize(("call", "code"), OTHERS)
def test_any_other_refusal_is_unavailable_and_says_which(
    call: str, code: str, stepfunctions: SFNClient, loop: StepFunctionsWorkflow
) -> None:
    with Stubber(stepfunctions) as stub:
        stub.add_client_error(call, code, http_status_code=400)
        with pytest.raises(WorkflowUnavailable, match=code):
            CALLS[call](loop)


def test_a_place_that_the_service_does_not_know_is_the_askers_fault(
    stepfunctions: SFNClient, loop: StepFunctionsWorkflow
) -> None:
    with Stubber(stepfunctions) as stub:
        stub.add_client_error("list_executions", "InvalidToken", http_status_code=400)
        with pytest.raises(InvalidInput) as refused:
            loop.running(10, "place")
    assert (refused.value.code, refused.value.field) == ("invalid_next", "next")


@pytest.mark.parametrize("fault", DEAD, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("call", CALLS)
def test_a_dead_line_is_unavailable(
    call: str, fault: BotoCoreError, stepfunctions: SFNClient, loop: StepFunctionsWorkflow
) -> None:
    def dead(**kwargs: object) -> None:
        raise fault

    stepfunctions.meta.events.register_first("before-call.stepfunctions.*", dead)
    with pytest.raises(WorkflowUnavailable) as unavailable:
        CALLS[call](loop)
    assert unavailable.value.__cause__ is fault


def test_what_is_sent_is_the_run_the_start_and_the_token_alone(
    stepfunctions: SFNClient, loop: StepFunctionsWorkflow
) -> None:
    state = json.dumps({"run_id": RUN_ID, "start": 3, "lap": 0})
    begun = {"stateMachineArn": LOOP, "name": f"{RUN_ID}-3", "input": state}
    with Stubber(stepfunctions) as stub:
        stub.add_response("start_execution", {"executionArn": LOOP, "startDate": 0}, begun)
        stub.add_response("send_task_success", {}, {"taskToken": "token", "output": "{}"})
        loop.start(RUN_ID, 3)
        loop.wake("token")
        stub.assert_no_pending_responses()
