"""Lambdas in processes of their own, which a signal really hits."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from infra.local.cloud import LocalCloud
from tests.infra.local.conftest import options
from tests.infra.local.test_stepfunctions import begin, ends, hand


@pytest.fixture(scope="module")
def lines() -> SimpleQueue[str]:
    return SimpleQueue()


@pytest.fixture(scope="module")
def cloud(lines: SimpleQueue[str]) -> Iterator[LocalCloud]:
    with LocalCloud(options(processes=True, print_line=lines.put)) as cloud:
        yield cloud


def test_a_function_runs_in_another_process_and_stays_warm(cloud: LocalCloud) -> None:
    first, second = (cloud.invoke("show", {"n": number}).payload for number in range(2))
    assert first["pid"] == second["pid"] != os.getpid()
    assert second["event"] == {"n": 1}
    assert 0 < second["left"] <= 60_000
    assert first["table"] == second["table"] in cloud.client("dynamodb").list_tables()["TableNames"]


def test_a_process_that_died_while_it_was_idle_is_nobodys_fault(cloud: LocalCloud) -> None:
    first = cloud.invoke("show", {}).payload["pid"]
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert cloud.invoke("show", {}).payload["pid"] != first


def test_a_process_reaches_the_same_tables(cloud: LocalCloud) -> None:
    outcome = cloud.invoke("count", {})
    assert outcome.payload == {"tables": cloud.client("dynamodb").list_tables()["TableNames"]}


def test_a_kill_in_the_middle_is_an_unknown_error_which_step_functions_retries(cloud: LocalCloud) -> None:
    arn = begin(cloud, "hold")
    killed = cloud.await_busy("work")
    os.kill(killed, signal.SIGKILL)
    hand(cloud).await_sleeper(30)
    hand(cloud).turn(30)
    other = cloud.await_busy("work")
    assert other != killed
    os.kill(other, signal.SIGKILL)
    hand(cloud).await_sleeper(60)
    hand(cloud).turn(60)
    os.kill(cloud.await_busy("work"), signal.SIGKILL)
    assert ends(cloud, arn) == "FAILED"
    found = cloud.client("stepfunctions").describe_execution(executionArn=arn)
    assert found["error"] == "Lambda.Unknown"
    assert "signal: 9" in found["cause"]


def test_a_process_that_ends_by_itself_is_an_unknown_error(cloud: LocalCloud) -> None:
    outcome = cloud.invoke("work", {"script": [f"die {signal.SIGABRT.value}"]})
    assert outcome.payload["errorType"] == "Lambda.Unknown"


def test_a_function_over_its_time_is_killed(cloud: LocalCloud) -> None:
    arn = begin(cloud, "hold")
    late = cloud.await_busy("work")
    hand(cloud).await_sleeper(300)
    hand(cloud).turn(300)
    assert ends(cloud, arn) == "FAILED"
    assert cloud.client("stepfunctions").describe_execution(executionArn=arn)["error"] == "Sandbox.Timedout"
    with pytest.raises(ProcessLookupError):
        os.kill(late, 0)


def test_what_a_function_prints_is_handed_on(cloud: LocalCloud, lines: SimpleQueue[str]) -> None:
    cloud.invoke("speak", {"text": "one\ntwo"})
    assert [lines.get(timeout=10), lines.get(timeout=10)] == ["one", "two"]
