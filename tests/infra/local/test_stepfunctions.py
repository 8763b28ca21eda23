"""Real state machines by a clock that the test turns."""

from __future__ import annotations

import itertools
import json
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.stepfunctions.models import StateMachine
from moto.stepfunctions.parser.asl.utils import boto_client
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

from infra.local import stepfunctions
from infra.local.clock import HandClock
from infra.local.cloud import LocalCloud
from infra.local.overrides import NotThere, override
from tests.infra.local import standin

MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:standin-loop"


class Flaky(Exception):  # noqa: N818
    pass


NAMES = (f"execution-{number}" for number in itertools.count())


def begin(cloud: LocalCloud, *script: str, name: str = "") -> str:
    given = json.dumps({"script": list(script)})
    name = name or next(NAMES)
    started = cloud.client("stepfunctions").start_execution(stateMachineArn=MACHINE, name=name, input=given)
    arn: str = started["executionArn"]
    return arn


def status(cloud: LocalCloud, arn: str) -> str:
    found: str = cloud.client("stepfunctions").describe_execution(executionArn=arn)["status"]
    return found


def types(cloud: LocalCloud, arn: str) -> list[str]:
    history = cloud.client("stepfunctions").get_execution_history(executionArn=arn)
    return [event["type"] for event in history["events"]]


def ends(cloud: LocalCloud, arn: str) -> str:
    cloud.await_end(arn)
    return status(cloud, arn)


def hand(cloud: LocalCloud) -> HandClock:
    assert isinstance(cloud.clock, HandClock)
    return cloud.clock


def test_a_wait_lasts_by_the_local_clock(cloud: LocalCloud) -> None:
    arn = begin(cloud, "wait 3600", "end")
    hand(cloud).await_sleeper(3600)
    hand(cloud).turn(3599)
    hand(cloud).await_sleeper(1)
    assert status(cloud, arn) == "RUNNING"
    hand(cloud).turn(1)
    assert ends(cloud, arn) == "SUCCEEDED"


def test_a_retry_backs_off_by_the_local_clock(cloud: LocalCloud) -> None:
    standin.faults += [Flaky(), Flaky()]
    arn = begin(cloud, "end")
    for seconds in (30, 60):
        hand(cloud).await_sleeper(seconds)
        hand(cloud).turn(seconds)
    assert ends(cloud, arn) == "SUCCEEDED"
    assert types(cloud, arn).count("TaskFailed") == 2


def test_a_fault_is_matched_by_the_type_that_was_raised(cloud: LocalCloud) -> None:
    standin.faults.append(ValueError("not retried"))
    arn = begin(cloud, "end")
    assert ends(cloud, arn) == "FAILED"
    found = cloud.client("stepfunctions").describe_execution(executionArn=arn)
    assert found["error"] == "ValueError"
    assert json.loads(found["cause"])["errorMessage"] == "not retried"


def test_a_task_times_out_by_the_local_clock(cloud: LocalCloud) -> None:
    arn = begin(cloud, "hold")
    hand(cloud).await_sleeper(500)
    hand(cloud).turn(500)
    assert ends(cloud, arn) == "FAILED"
    assert cloud.client("stepfunctions").describe_execution(executionArn=arn)["error"] == "States.Timeout"


def test_a_question_times_out_by_the_local_clock(cloud: LocalCloud) -> None:
    arn = begin(cloud, "ask 86400")
    token = standin.heard.get(timeout=10)
    hand(cloud).await_sleeper(86400)
    hand(cloud).turn(86400)
    assert ends(cloud, arn) == "FAILED"
    with pytest.raises(ClientError):
        cloud.client("stepfunctions").send_task_success(taskToken=token, output="{}")


def test_a_token_wakes_the_execution_that_waits_for_it(cloud: LocalCloud) -> None:
    arn = begin(cloud, "ask 86400")
    token = standin.heard.get(timeout=10)
    cloud.client("stepfunctions").send_task_success(taskToken=token, output="{}")
    assert ends(cloud, arn) == "SUCCEEDED"


def test_a_token_is_found_while_another_execution_is_still_beginning(
    cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, held, go_on = ExecutionWorker._get_evaluation_entrypoint, threading.Event(), threading.Event()

    def parse_when_told(worker: ExecutionWorker) -> Any:
        held.set()
        assert go_on.wait(10)
        return parse(worker)

    with monkeypatch.context() as held_up:
        held_up.setattr(ExecutionWorker, "_get_evaluation_entrypoint", parse_when_told)
        beginning = begin(cloud, "end")
        assert held.wait(10)
    arn = begin(cloud, "ask 86400")
    token = standin.heard.get(timeout=10)
    cloud.client("stepfunctions").send_task_success(taskToken=token, output="{}")
    assert ends(cloud, arn) == "SUCCEEDED"
    go_on.set()
    assert ends(cloud, beginning) == "SUCCEEDED"


@pytest.mark.parametrize("script", ["wait 7200", "ask 7200"])
def test_a_stopped_execution_ends_at_once_whatever_it_waits_for(cloud: LocalCloud, script: str) -> None:
    arn = begin(cloud, script)
    hand(cloud).await_sleeper(7200)
    cloud.client("stepfunctions").stop_execution(executionArn=arn)
    assert ends(cloud, arn) == "ABORTED"


def test_of_two_starts_of_one_name_at_once_one_execution_comes(
    cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, both_have_looked = StateMachine._handle_name_input_idempotency, threading.Barrier(2)

    def look_together(machine: StateMachine, *arguments: Any) -> Any:
        found = look(machine, *arguments)
        with suppress(threading.BrokenBarrierError):
            both_have_looked.wait(0.1)
        return found

    monkeypatch.setattr(StateMachine, "_handle_name_input_idempotency", look_together)
    threads = [threading.Thread(target=begin, args=(cloud, "ask 77"), kwargs={"name": "race"}) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    executions = cloud.client("stepfunctions").list_executions(stateMachineArn=MACHINE)["executions"]
    assert [each["name"] for each in executions].count("race") == 1


def test_one_client_serves_all_tasks(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        made.append(kwargs["service_name"])
        return boto3.client(*args, **kwargs)

    monkeypatch.setattr(boto_client, "boto3", SimpleNamespace(client=counted))
    with stepfunctions.repaired():
        for _ in range(3):
            assert ends(cloud, begin(cloud, "end")) == "SUCCEEDED"
    assert made == ["lambda"]


def test_an_override_of_what_moto_no_longer_has_is_refused() -> None:
    class Upgraded:
        pass

    with pytest.raises(NotThere, match="call_action"), override(Upgraded, "call_action", None):
        pass
