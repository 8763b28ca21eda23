"""The state machine as written: nothing dangles, nothing is out of reach, and every retry has a bound."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from infra.template import ASL, FUNCTIONS

LOOP = json.loads(ASL.read_text())
STATES: dict[str, dict[str, Any]] = LOOP["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}

CRASHES_AND_TIMEOUTS = {"Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout", "States.Timeout"}
PLATFORM_FAULTS = {"Unavailable", "WorkflowUnavailable"}
SERVICE_FAULTS = {
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
    "Lambda.ClientExecutionTimeoutException",
}


def _targets(state: dict[str, Any]) -> Iterator[str]:
    for arm in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        yield from (arm[key] for key in ("Next", "Default") if key in arm)


def _reachable(start: str) -> set[str]:
    found, ahead = set[str](), [start]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead.extend(_targets(STATES[name]))
    return found


@pytest.mark.parametrize("name", STATES)
def test_every_target_of_a_state_exists(name: str) -> None:
    assert set(_targets(STATES[name])) <= STATES.keys()


def test_every_state_can_be_reached_and_the_loop_can_end() -> None:
    assert _reachable(LOOP["StartAt"]) == STATES.keys()
    assert {name for name, state in STATES.items() if not list(_targets(state))} == {"Done", "Failed"}


def test_every_task_names_a_packaged_function_and_every_reference_is_to_one() -> None:
    named = {state["Parameters"]["FunctionName"].removeprefix("${").removesuffix(".Arn}") for state in TASKS.values()}

    assert named == {"Advance", "AwaitAnswer", "Abandon"} <= FUNCTIONS.keys()
    assert set(re.findall(r"\$\{([^}]+)\}", ASL.read_text())) == {"AWS::Partition", *(f"{name}.Arn" for name in named)}


def test_the_loop_hands_on_ids_only() -> None:
    handed = {key.removesuffix(".$") for state in TASKS.values() for key in state["Parameters"]["Payload"]}

    assert handed == {"run_id", "start", "lap", "token", "error"}


@pytest.mark.parametrize("name", TASKS)
def test_a_retry_is_for_faults_of_the_platform_only_and_has_a_bound(name: str) -> None:
    [retry] = TASKS[name]["Retry"]

    allowed = CRASHES_AND_TIMEOUTS | PLATFORM_FAULTS | SERVICE_FAULTS
    # The question that times out is no fault: it has a way of its own.
    assert set(retry["ErrorEquals"]) == allowed - ({"States.Timeout"} if name == "AwaitAnswer" else set())
    assert (retry["MaxAttempts"], retry["BackoffRate"]) == (6, 2)
    assert (retry["JitterStrategy"], retry["MaxDelaySeconds"]) == ("FULL", 60)


def test_advance_is_given_a_little_more_time_than_its_lambda_has() -> None:
    assert 900 < TASKS["Advance"]["TimeoutSeconds"] <= 960
