"""A function of one's own on the laptop, called as an agent's tool."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.aws import clients
from chalicelib.adapters.system import SystemClock
from chalicelib.adapters.tools.lambda_tool import LambdaTools
from chalicelib.core.declared import LambdaTool
from chalicelib.core.tools import ToolResult, ToolSpec
from infra.local.__main__ import _arguments
from tests.a_call import an_invocation
from tests.infra.local.conftest import BringUp

FUNCTIONS = {"greet": f"{__name__}.greet", "stumble": f"{__name__}.stumble"}


def greet(event: dict[str, Any], context: Any) -> str:
    return f"Hello, {event['args']['name']}, from {context.function_name} for {event['account_id']}."


def stumble(event: dict[str, Any], context: Any) -> None:
    raise ValueError("not today")


@pytest.mark.parametrize("role", [None, "arn:aws:iam::123456789012:role/any"])
def test_a_function_of_ones_own_is_an_agents_tool(role: str | None, bring_up: BringUp) -> None:
    bring_up(own_functions=FUNCTIONS)
    tools = LambdaTools(clients.function_client, lambda: clients.client("sts"), SystemClock())

    def called(function: str) -> Any:
        _, call = tools.tool(LambdaTool(ToolSpec("own", "Does it.", {"type": "object"}), function, role))
        deadline = SystemClock().now() + timedelta(seconds=20)
        return call(an_invocation("own", {"name": "Ada"}, deadline=deadline))

    assert called("greet") == ToolResult(ok=True, content="Hello, Ada, from greet for acme.")
    assert called("stumble") == ToolResult(ok=False, content="The function stumble failed with ValueError: not today")
    assert called("nobody").content.startswith("The function nobody gave no answer: ResourceNotFoundException")


def test_the_stacks_own_functions_are_there_as_before(bring_up: BringUp) -> None:
    cloud = bring_up(own_functions=FUNCTIONS)

    answer = cloud.client("lambda").invoke(FunctionName="standin-show", Payload=json.dumps({"n": 1}))

    assert json.load(answer["Payload"])["event"] == {"n": 1}


def test_they_are_named_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["local", "--function", "greet=tools.greet", "--function", "pay=a.b.pay"])

    assert dict(_arguments().function) == {"greet": "tools.greet", "pay": "a.b.pay"}


@pytest.mark.parametrize("text", ["greet", "greet=", "=tools.greet", "greet=tools"])
def test_what_names_no_function_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["local", "--function", text])

    with pytest.raises(SystemExit):
        _arguments()
    assert "--function" in capsys.readouterr().err
