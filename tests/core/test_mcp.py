"""The tools of strangers: their names, and their risk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core import mcp
from chalicelib.core.declared import McpOverride, McpServer
from chalicelib.core.tools import Effect, Mark, Risk, ToolSpec

SERVER = McpServer("weather", "https://weather.example/mcp", secret="weather-key")

WHAT_PROVIDERS_TAKE = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def an_entry(name: Any = "forecast", **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "The forecast.", "inputSchema": {"type": "object"}, **more}


def the_spec(server: McpServer = SERVER, **more: Any) -> ToolSpec:
    [tool] = mcp.taken(server, [an_entry(**more)]).tools.values()
    return tool.spec


def knowing_better(**override: Any) -> McpServer:
    return McpServer("weather", "https://weather.example/mcp", tools={"forecast": McpOverride(**override)})


@given(st.from_regex(r"[a-zA-Z0-9-]{1,24}", fullmatch=True), st.text(min_size=1, max_size=256))
def test_every_name_is_one_that_providers_take_and_says_whose_tool_it_is(server: str, tool: str) -> None:
    name = mcp.tool_name(server, tool)

    assert WHAT_PROVIDERS_TAKE.fullmatch(name)
    assert mcp.server_of(name) == server
    assert mcp.tool_name(server, tool) == name


def test_a_name_that_fits_is_kept() -> None:
    assert mcp.tool_name("weather", "get_forecast-2") == "weather__get_forecast-2"


@pytest.mark.parametrize("tools", [("a.b", "a_b"), ("a.b", "a/b"), ("x" * 70, "x" * 71)])
def test_names_that_had_to_be_changed_stay_apart(tools: tuple[str, str]) -> None:
    assert len({mcp.tool_name("weather", tool) for tool in tools}) == 2


@pytest.mark.parametrize("name", ["forecast", "current_time", "__x", "a_b__c"])
def test_a_name_of_another_kind_is_no_servers(name: str) -> None:
    assert mcp.server_of(name) is None


def test_what_is_not_said_is_assumed_at_its_worst() -> None:
    spec = the_spec()

    assert (spec.effect, spec.open_world, spec.risk) == (Effect.IRREVERSIBLE, True, Risk.GRAVE)
    assert spec.marks == {Mark.UNTRUSTED}
    assert spec.secrets == ("weather-key",)


@pytest.mark.parametrize(
    "lie",
    [
        {"readOnlyHint": True},
        {"destructiveHint": False, "idempotentHint": True, "openWorldHint": False, "readOnlyHint": True},
        {"effect": "read"},
        "read",
    ],
)
def test_no_annotation_lowers_the_risk(lie: Any) -> None:
    assert the_spec(annotations=lie) == the_spec()


@pytest.mark.parametrize(
    ("annotations", "risk"),
    [
        (None, Risk.HARMLESS),
        ({"openWorldHint": True}, Risk.OUTSIDE),
        ({"readOnlyHint": False}, Risk.CHANGES),
        ({"destructiveHint": True}, Risk.GRAVE),
        ({"destructiveHint": True, "readOnlyHint": True}, Risk.GRAVE),
        ({"destructiveHint": "yes"}, Risk.HARMLESS),
    ],
)
def test_an_annotation_raises_what_the_account_took_for_harmless(annotations: Any, risk: Risk) -> None:
    ours = knowing_better(effect=Effect.READ, open_world=False)

    assert the_spec(ours, annotations=annotations).risk is risk


def test_only_the_accounts_word_lowers_it_and_may_raise_it_too() -> None:
    assert the_spec(knowing_better(effect=Effect.READ, open_world=False, timeout=7)).timeout == 7
    assert the_spec(knowing_better(effect=Effect.READ)).open_world
    assert the_spec(knowing_better(effect=Effect.READ, at_least=Risk.CHANGES)).risk is Risk.CHANGES


def test_a_description_is_bounded_and_never_empty() -> None:
    assert len(the_spec(description="x" * 100_000).description) == mcp.LONGEST_DESCRIPTION
    assert the_spec(description=None).description == "The tool forecast of the server weather."


@pytest.mark.parametrize(
    "unusable",
    [
        "forecast",
        an_entry(name=""),
        an_entry(name=7),
        an_entry(name="x" * 257),
        an_entry(inputSchema=None),
        an_entry(inputSchema={"type": "object", "properties": {"a": {"$ref": "http://inside/"}}}),
    ],
)
def test_what_cannot_be_used_is_left_out_and_named_and_the_rest_stays(unusable: Any) -> None:
    taken = mcp.taken(SERVER, [unusable, an_entry("other")])

    assert [*taken.tools] == ["weather__other"]
    assert len(taken.left_out) == 1


def test_of_two_tools_with_one_name_the_first_stands() -> None:
    taken = mcp.taken(SERVER, [an_entry(description="First."), an_entry(description="Second.")])

    assert [tool.spec.description for tool in taken.tools.values()] == ["First."]
    assert taken.left_out == ("'forecast': another tool has its name",)


def test_a_server_gets_no_more_than_so_many_tools() -> None:
    taken = mcp.taken(SERVER, [an_entry(f"t{at}") for at in range(mcp.MOST_TOOLS + 5)])

    assert len(taken.tools) == mcp.MOST_TOOLS
    assert len(taken.left_out) == 5
