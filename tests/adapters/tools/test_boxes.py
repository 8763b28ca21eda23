"""What an agent's toolbox holds: the built-in tools, and what it declares."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

import pytest

from chalicelib.adapters.system import SystemClock
from chalicelib.adapters.tools.boxes import Boxes
from chalicelib.adapters.tools.mcp_servers import McpServers
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.core.agent import Agent
from chalicelib.core.declared import DeclaredTool, LambdaTool, McpOverride, McpServer, OutsideTool
from chalicelib.core.tools import Answers, Effect, Invocation, Risk, ToolResult, ToolSpec
from chalicelib.ports.toolbox import Toolbox
from tests.a_call import a_call, an_invocation
from tests.adapters.tools.mcp_server import running, weather
from tests.adapters.tools.stranger import a_stranger, nothing_special, raw, result, text

CLOCK = SystemClock()


def a_spec(name: str, description: str = "Does it.") -> ToolSpec:
    return ToolSpec(name, description, {"type": "object"}, Effect.READ)


def not_made() -> NoReturn:
    raise AssertionError("nobody asked for this")


class Functions:
    """Functions that say their own names."""

    def tool(self, declared: LambdaTool) -> Any:
        return declared.spec, lambda invocation: ToolResult(ok=True, content=declared.function)


BUILT_IN = FunctionToolbox([(a_spec("look"), lambda invocation: "seen"), (a_spec("strange__built"), lambda _: "ours")])


def the_box(*declared: DeclaredTool) -> Toolbox:
    servers = McpServers(lambda account_id, name: None, CLOCK, loopback=True)
    boxes = Boxes(BUILT_IN, functions=Functions, servers=lambda: servers)  # type: ignore[arg-type]
    return boxes.of("acme", Agent("a", "", "", "scripted:x", declared=declared))


def names(box: Toolbox, *wanted: str) -> list[str]:
    return [spec.name for spec in box.specs(wanted)]


def called(box: Toolbox, name: str, **args: Any) -> str:
    invocation = an_invocation(name, args, deadline=CLOCK.now() + timedelta(seconds=5))
    assert box.problem(invocation.call) is None
    return box.call(invocation).content


def test_an_agent_that_declares_nothing_gets_the_built_in_tools_and_nothing_is_made() -> None:
    boxes = Boxes(BUILT_IN, functions=not_made, servers=not_made)

    assert boxes.of("acme", Agent("a", "", "", "scripted:x")) is BUILT_IN


def test_declared_tools_stand_behind_those_that_are_named() -> None:
    box = the_box(LambdaTool(a_spec("pay"), "pay-function"), OutsideTool(a_spec("sign")))

    assert names(box, "look") == ["look", "pay", "sign"]
    assert names(box, "sign", "look") == ["sign", "look", "pay"]
    assert called(box, "look") == "seen"
    assert called(box, "pay") == "pay-function"


def test_a_name_that_nobody_has_any_more_is_left_out() -> None:
    assert names(the_box(OutsideTool(a_spec("sign"))), "nothing") == ["sign"]


def test_a_tool_that_is_answered_from_outside_says_so_and_is_never_called() -> None:
    box = the_box(OutsideTool(a_spec("sign")))
    spec = box.spec("sign")

    assert spec == replace(a_spec("sign"), answers=Answers.OUTSIDE)
    assert box.call(an_invocation("sign")) == ToolResult(ok=False, content="The tool sign is answered from outside.")


def test_of_two_tools_with_one_name_the_built_in_one_stands_then_the_first_declared() -> None:
    with a_stranger(list=lambda asked: result(asked, tools=[nothing_special("built"), nothing_special("ours")])) as (
        server,
        _,
    ):
        box = the_box(
            OutsideTool(a_spec("look", "Another.")),
            LambdaTool(a_spec("pay", "First."), "one"),
            LambdaTool(a_spec("pay", "Second."), "two"),
            LambdaTool(a_spec("strange__ours"), "three"),
            server,
        )

        assert [spec.description for spec in box.specs(["look", "pay"])] == [
            "Does it.",
            "First.",
            "Does it.",
            "Does it.",
        ]
        assert called(box, "pay") == "one"
        assert called(box, "strange__built") == "ours"
        assert called(box, "strange__ours") == "three"


def test_a_real_servers_tools_are_called_by_their_names_here() -> None:
    with running(weather().streamable_http_app()) as url:
        box = the_box(McpServer("weather", url, tools={"forecast": McpOverride(effect=Effect.READ)}))

        assert names(box, "look", "weather__forecast")[:3] == ["look", "weather__forecast", "weather__fail"]
        assert called(box, "weather__forecast", city="Oslo") == "Rain in Oslo."
        assert [box.specs([f"weather__{name}"])[0].risk for name in ("forecast", "step_by_step", "wipe")] == [
            Risk.OUTSIDE,
            Risk.GRAVE,
            Risk.GRAVE,
        ]


def test_two_servers_may_have_a_tool_of_the_same_name() -> None:
    with (
        a_stranger(call=lambda asked: text(asked, "one")) as (one, _),
        a_stranger(call=lambda asked: text(asked, "two")) as (two, _),
    ):
        box = the_box(replace(one, name="one"), replace(two, name="two"))

        assert names(box) == ["one__act", "two__act"]
        assert (called(box, "one__act"), called(box, "two__act")) == ("one", "two")


def test_of_two_servers_with_one_name_the_first_stands() -> None:
    with (
        a_stranger(call=lambda asked: text(asked, "one")) as (one, _),
        a_stranger(call=lambda asked: text(asked, "two")) as (two, other),
    ):
        assert called(the_box(one, two), "strange__act") == "one"
        assert other.asked == []


def test_the_tools_of_a_server_that_is_down_are_not_there_and_a_call_of_one_is_told_why() -> None:
    with a_stranger(discover=lambda asked: raw(b"", 503)) as (server, _), a_stranger() as (up, _):
        box = the_box(server, replace(up, name="up"))

        assert names(box, "strange__act", "look") == ["look", "up__act"]
        assert box.spec("strange__act") is None
        assert box.problem(a_call("strange__act")) == (
            "The server strange is down: it answered with the HTTP status 503. "
            "Do without its tools, or try again later."
        )
        assert called(box, "up__act") == "acted"


def test_a_tool_that_is_gone_since_it_was_let_through_is_a_failed_call() -> None:
    with a_stranger(discover=lambda asked: raw(b"", 503)) as (server, _):
        box = the_box(server)

        assert box.fields(a_call("strange__act")) == {}
        assert box.preview(a_call("strange__act", {"a": 1})) == "strange__act\n  a: 1"
        assert box.call(an_invocation("strange__act")).content.startswith("The server strange is down")
        assert box.call(an_invocation("nothing")).content.startswith("There is no tool 'nothing'")


def test_the_tools_change_only_where_all_of_them_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.adapters.tools.mcp_servers.KEPT", timedelta())
    with a_stranger() as (server, stranger):
        box = the_box(server)
        assert names(box) == ["strange__act"]

        stranger.answers["tools/list"] = lambda asked: result(asked, tools=[nothing_special("other")])
        assert box.problem(a_call("strange__act")) is None
        assert box.spec("strange__act") is not None
        assert names(box) == ["strange__other"]
        assert box.spec("strange__act") is None


def test_a_call_of_a_tool_that_is_not_there_is_told_with_those_that_are() -> None:
    with a_stranger() as (server, _):
        box = the_box(server, OutsideTool(a_spec("sign")))

        for name in ("act", "strange__other"):
            assert box.problem(a_call(name)) == (
                f"There is no tool {name!r}. Among those that there are: sign, strange__act."
            )
        assert box.problem(a_call("strange__act", malformed="{")) is not None


def test_a_tool_with_a_nasty_schema_is_left_out_and_the_others_stay(caplog: pytest.LogCaptureFixture) -> None:
    bomb = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    tools = [nothing_special("bomb", inputSchema=bomb), nothing_special(), {"name": 7}, "x"]
    with a_stranger(list=lambda asked: result(asked, tools=tools)) as (server, _):
        assert names(the_box(server)) == ["strange__act"]

    assert "server=strange 'bomb': it is too large, too deep, or refers to itself" in caplog.text


def test_no_server_is_asked_before_a_question_needs_it() -> None:
    with a_stranger() as (server, stranger):
        box = the_box(server)
        assert box.spec("look") == a_spec("look")
        assert box.spec("nothing") is None
        assert called(box, "look") == "seen"
        assert stranger.asked == []

        box.spec("strange__act")
        box.specs(["look"])
        assert stranger.asked == ["server/discover", "tools/list"]


def test_an_invocation_reaches_its_tool_with_all_that_belongs_to_it() -> None:
    seen: list[Invocation] = []

    def look(invocation: Invocation) -> str:
        seen.append(invocation)
        return "seen"

    boxes = Boxes(FunctionToolbox([(a_spec("look"), look)]), functions=Functions, servers=not_made)  # type: ignore[arg-type]
    invocation = an_invocation("look")
    boxes.of("acme", Agent("a", "", "", "scripted:x", declared=(OutsideTool(a_spec("sign")),))).call(invocation)

    assert seen == [invocation]


def test_a_process_whose_agents_declare_nothing_does_not_import_what_that_would_need() -> None:
    code = (
        "import sys; from chalicelib.bootstrap import World; from chalicelib.config import Config;"
        "from chalicelib.core.agent import Agent;"
        "World(Config(table='t', bucket='b', state_machine_arn='a')).toolboxes.of('acme', Agent('a', '', '', 'x:y'));"
        "print([name for name in sys.modules if 'mcp' in name or 'lambda_tool' in name])"
    )
    env = {**os.environ, "AWS_DEFAULT_REGION": "eu-central-1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
