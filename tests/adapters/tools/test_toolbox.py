"""Functions as tools: whatever goes wrong in one, the model is told, and the run goes on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from chalicelib.adapters.tools.toolbox import Function, FunctionToolbox, ToolProblem
from chalicelib.core.tools import Effect, Invocation, ToolResult, ToolSpec
from tests.a_call import RUN_ID, a_call, an_invocation


def spec(name: str) -> ToolSpec:
    return ToolSpec(name, f"Does {name}.", {"type": "object"}, Effect.READ)


def echo(invocation: Invocation) -> str:
    return f"{dict(invocation.call.args)} by {invocation.deadline:%Y}"


def mind(invocation: Invocation) -> str:
    raise ToolProblem("Name a city.")


def dawdle(invocation: Invocation) -> str:
    raise TimeoutError


def stumble(invocation: Invocation) -> str:
    raise ZeroDivisionError("secret internals")


TOOLBOX = FunctionToolbox(
    [
        (spec("echo"), echo),
        (spec("mind"), mind),
        (spec("dawdle"), dawdle),
        (spec("stumble"), stumble),
    ]
)


def call(name: str, args: Mapping[str, Any] | None = None) -> ToolResult:
    return TOOLBOX.call(an_invocation(name, args))


def test_specs_come_in_the_order_in_which_they_are_named() -> None:
    assert TOOLBOX.specs(["mind", "echo"]) == (spec("mind"), spec("echo"))
    assert TOOLBOX.specs([]) == ()


def test_a_tool_that_an_agent_names_and_that_is_gone_is_left_out() -> None:
    assert TOOLBOX.specs(["echo", "nothing"]) == (spec("echo"),)


def test_a_tool_gets_its_arguments_and_its_deadline() -> None:
    assert call("echo", {"a": 1}) == ToolResult(ok=True, content="{'a': 1} by 2026")


def test_a_tool_that_is_not_there_is_told_with_those_that_are() -> None:
    assert TOOLBOX.problem(a_call("echo:")) == "There is no tool 'echo:'. The tools are: echo, mind, dawdle, stumble."


def test_malformed_arguments_are_shown_to_the_model_in_part() -> None:
    problem = TOOLBOX.problem(a_call("echo", malformed='{"city": ' + "x" * 1000))

    assert problem is not None
    assert problem.startswith("""The arguments were no JSON object: '{"city": xxx""")
    assert len(problem) < 300


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mind", "Name a city."),
        ("dawdle", "The tool dawdle did not finish in time."),
        ("stumble", "The tool stumble failed with ZeroDivisionError."),
    ],
)
def test_a_failure_is_told_in_a_sentence(name: str, said: str) -> None:
    assert call(name) == ToolResult(ok=False, content=said)


def test_an_unexpected_failure_is_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        call("stumble")

    (record,) = caplog.records
    assert RUN_ID in record.getMessage()
    assert "in stumble" in record.getMessage()
    assert "ZeroDivisionError: secret internals" in record.getMessage()


@pytest.mark.parametrize(("function", "unknown"), [(mind, False), (dawdle, True), (stumble, True)])
def test_f11_nobody_knows_what_an_irreversible_call_did_that_broke_off_and_a_refusal_did_nothing(
    function: Function, unknown: bool
) -> None:
    irreversible = ToolSpec("once", "Does it once.", {"type": "object"}, Effect.IRREVERSIBLE)
    told = FunctionToolbox([(irreversible, function)]).call(an_invocation("once"))

    assert (told.ok, told.unknown) == (False, unknown)
