"""The packaged template, come up in moto, and its state machine at work; only the Lambdas' answers are scripted."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.stepfunctions.models import stepfunctions_backends

from chalicelib.adapters.dynamodb import keys
from infra.build import CODE, Built, for_moto
from infra.template import FUNCTIONS

REGION = "eu-north-1"
"""Its own, so that nothing here meets what another test keeps in moto."""

INPUT = {"run_id": "run-1", "start": 1, "lap": 0}
SECONDS_TO_END = 20


class Lambdas:
    """Answers in the functions' stead, in order, and keeps what they were asked."""

    def __init__(self) -> None:
        self.answers: dict[str, deque[object]] = defaultdict(deque)
        self.asked: dict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self.token_came = threading.Event()

    def advance_answers(self, *nexts: str) -> None:
        for lap, word in enumerate(nexts, start=1):
            self.answers["advance"].append({**INPUT, "lap": lap, "next": word, "seconds": 0 if word == "wait" else 60})

    def invoke(self, arn: str, qualifier: object, body: str, headers: object, answer_headers: dict[str, str]) -> bytes:
        name = arn.rpartition("pawl-dev-")[2]
        event = json.loads(body)
        self.asked[name].append(event)
        if "token" in event:
            self.token_came.set()
        answer = self.answers[name].popleft() if self.answers[name] else None
        if isinstance(answer, Exception):
            answer_headers["x-amz-function-error"] = "Unhandled"
            answer = {"errorType": type(answer).__name__, "errorMessage": str(answer)}
        return json.dumps(answer).encode()


@pytest.fixture(scope="module")
def outputs(built: Built) -> Iterator[dict[str, str]]:
    with mock_aws(config={"lambda": {"use_docker": False}, "stepfunctions": {"execute_state_machine": True}}):
        bucket, key = CODE.values()
        storage = boto3.client("s3", "us-east-1")
        storage.create_bucket(Bucket=bucket)
        storage.put_object(Bucket=bucket, Key=key, Body=built.zip.read_bytes())
        cloudformation = boto3.client("cloudformation", REGION)
        template = json.dumps(for_moto(built.transformed))
        cloudformation.create_stack(StackName="pawl", TemplateBody=template, Capabilities=["CAPABILITY_IAM"])
        [stack] = cloudformation.describe_stacks(StackName="pawl")["Stacks"]
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        _make_executable(outputs["StateMachineArn"])
        yield outputs


def _make_executable(machine: str) -> None:
    """moto's CloudFormation makes the machine in a backend that records executions and never runs one."""
    made = stepfunctions_backends[DEFAULT_ACCOUNT_ID][REGION].describe_state_machine(machine)
    again = boto3.client("stepfunctions", REGION).create_state_machine(
        name=made.name, definition=made.definition, roleArn=made.roleArn
    )
    assert again["stateMachineArn"] == machine


@pytest.fixture
def lambdas(monkeypatch: pytest.MonkeyPatch) -> Lambdas:
    lambdas = Lambdas()
    monkeypatch.setattr(LambdaSimpleBackend, "invoke", lambda _, *asked: lambdas.invoke(*asked))
    return lambdas


@pytest.fixture
def execution(outputs: dict[str, str], request: pytest.FixtureRequest) -> Execution:
    return Execution(outputs["StateMachineArn"], request.node.name)


class Execution:
    """One execution of the loop; begun when it is asked for."""

    def __init__(self, machine: str, name: str) -> None:
        self.client = boto3.client("stepfunctions", REGION)
        self.machine, self.name = machine, name[:80]

    def begin(self) -> None:
        started = self.client.start_execution(stateMachineArn=self.machine, name=self.name, input=json.dumps(INPUT))
        self.arn = started["executionArn"]

    def end(self) -> str:
        ended = threading.Event()
        for _ in range(SECONDS_TO_END * 100):
            status = self.client.describe_execution(executionArn=self.arn)["status"]
            if status != "RUNNING":
                return status
            ended.wait(0.01)
        raise AssertionError("the execution does not end")

    def states(self) -> list[str]:
        """The states that were entered, in order: what is paid for."""
        history = self.client.get_execution_history(executionArn=self.arn)["events"]
        return [each["stateEnteredEventDetails"]["name"] for each in history if each["type"].endswith("StateEntered")]


def test_the_template_comes_up_with_a_table_that_has_the_schema_s_keys(outputs: dict[str, str]) -> None:
    table = boto3.client("dynamodb", REGION).describe_table(TableName=outputs["Table"])["Table"]

    assert [key["AttributeName"] for key in table["KeySchema"]] == [keys.PK, keys.SK]
    assert {each["IndexName"] for each in table["GlobalSecondaryIndexes"]} == {
        keys.BY_ACCOUNT,
        keys.BY_DUE,
        keys.BY_INBOX,
    }


def test_every_function_comes_up_with_every_setting(outputs: dict[str, str]) -> None:
    functions = boto3.client("lambda", REGION).list_functions()["Functions"]

    assert len(functions) == len(FUNCTIONS)
    for function in functions:
        settings = function["Environment"]["Variables"]
        assert settings["PAWL_TABLE"] == outputs["Table"]
        assert settings["PAWL_BUCKET"] == outputs["Payloads"]
        assert settings["PAWL_STATE_MACHINE_ARN"] == outputs["StateMachineArn"]


def test_the_clock_and_the_ends_of_executions_knock_at_their_doors(outputs: dict[str, str]) -> None:
    events = boto3.client("events", REGION)
    rules = events.list_rules()["Rules"]

    [tick] = [rule for rule in rules if "ScheduleExpression" in rule]
    [ended] = [rule for rule in rules if "EventPattern" in rule]
    assert tick["ScheduleExpression"] == "rate(1 minute)"
    assert json.loads(ended["EventPattern"])["detail"] == {
        "status": ["FAILED", "ABORTED", "TIMED_OUT"],
        "stateMachineArn": [outputs["StateMachineArn"]],
    }
    [target] = events.list_targets_by_rule(Rule=ended["Name"])["Targets"]
    assert target["Arn"].endswith(":pawl-dev-execution_ended")


def test_a_run_of_one_slice_takes_three_transitions(lambdas: Lambdas, execution: Execution) -> None:
    lambdas.advance_answers("end")

    execution.begin()

    assert execution.end() == "SUCCEEDED"
    assert execution.states() == ["Advance", "Route", "Done"]
    assert list(lambdas.asked["advance"]) == [INPUT]


def test_the_lap_that_advance_counts_comes_back_to_it(lambdas: Lambdas, execution: Execution) -> None:
    lambdas.advance_answers("continue", "wait", "end")

    execution.begin()

    assert execution.end() == "SUCCEEDED"
    assert execution.states() == ["Advance", "Route", "Advance", "Route", "WaitAWhile", "Advance", "Route", "Done"]
    assert [asked["lap"] for asked in lambdas.asked["advance"]] == [0, 1, 2]


def test_a_question_sleeps_until_its_token_is_sent(lambdas: Lambdas, execution: Execution) -> None:
    lambdas.advance_answers("ask", "end")

    execution.begin()
    assert lambdas.token_came.wait(SECONDS_TO_END)
    [asked] = lambdas.asked["await_answer"]
    execution.client.send_task_success(taskToken=asked["token"], output='{"ignored": true}')

    assert execution.end() == "SUCCEEDED"
    assert asked == {**INPUT, "lap": 1, "token": asked["token"]}
    assert lambdas.asked["advance"][1] == {**INPUT, "lap": 1}


def test_a_question_that_times_out_goes_on_to_advance_and_not_to_abandon(
    lambdas: Lambdas, execution: Execution
) -> None:
    lambdas.answers["advance"].append({**INPUT, "lap": 1, "next": "ask", "seconds": 1})
    lambdas.answers["advance"].append({**INPUT, "lap": 2, "next": "end", "seconds": 0})

    execution.begin()

    assert execution.end() == "SUCCEEDED"
    assert execution.states() == ["Advance", "Route", "AwaitAnswer", "Advance", "Route", "Done"]
    assert lambdas.asked["advance"][1] == {**INPUT, "lap": 1}


@pytest.mark.parametrize("broken", ["advance", "await_answer"])
def test_a_fault_of_our_own_is_not_tried_again_but_abandoned(
    broken: str, lambdas: Lambdas, execution: Execution
) -> None:
    lambdas.advance_answers("ask")
    lambdas.answers[broken].appendleft(KeyError("oops"))

    execution.begin()

    assert execution.end() == "FAILED"
    assert len(lambdas.asked[broken]) == 1
    [told] = lambdas.asked["abandon"]
    assert told.keys() == {"run_id", "start", "error"}
    assert (told["run_id"], told["start"], told["error"]["Error"]) == ("run-1", 1, "KeyError")
    assert execution.client.describe_execution(executionArn=execution.arn)["error"] == "KeyError"


def test_an_answer_that_the_loop_does_not_know_fails_the_execution(lambdas: Lambdas, execution: Execution) -> None:
    lambdas.advance_answers("perhaps")

    execution.begin()

    assert execution.end() == "FAILED"
