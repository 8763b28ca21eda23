"""Requests to real MCP servers, in both versions of the protocol and in each way that they answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.system import SystemClock
from chalicelib.adapters.tools.mcp_client import McpClient, Terms
from chalicelib.adapters.tools.mcp_line import McpLine
from chalicelib.adapters.tools.mcp_results import outcome
from chalicelib.core.mcp import RemoteTool
from chalicelib.core.tools import ToolResult, ToolSpec
from tests.adapters.tools.mcp_server import Legacy, MemoryEvents, Recording, running, weather

CLOCK = SystemClock()

WAYS: dict[str, dict[str, Any]] = {
    "json": {"json_response": True},
    "sse": {},
    "stateless": {"json_response": True, "stateless_http": True},
    "resumable": {"retry_interval": 20},
}


@contextmanager
def serving(way: str, legacy: bool) -> Iterator[tuple[McpClient, Recording]]:
    """A client of a server, and what comes to the server."""
    app = weather().streamable_http_app(**WAYS[way], event_store=MemoryEvents() if way == "resumable" else None)
    recording = Recording(Legacy(app) if legacy else app)
    with running(recording) as url:
        yield McpClient(McpLine(url, loopback=True), CLOCK), recording


def the_tool(name: str, headers: Mapping[str, tuple[str, ...]] | None = None) -> RemoteTool:
    return RemoteTool(name, ToolSpec(f"weather__{name}", "Does it.", {"type": "object"}), headers or {})


def terms() -> Terms:
    return Terms(CLOCK.now() + timedelta(seconds=10))


@pytest.mark.parametrize("legacy", [False, True], ids=["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("way", WAYS)
def test_tools_are_listed_and_called_in_each_way_that_servers_answer(way: str, legacy: bool) -> None:
    with serving(way, legacy) as (client, _):
        names = [tool["name"] for tool in client.tools(terms())]
        results = {
            name: outcome(client.call(the_tool(name), args, "id", terms()))
            for name, args in {"forecast": {"city": "Zürich"}, "fail": {"why": "x"}, "step_by_step": {}}.items()
        }

    assert names == ["forecast", "fail", "break_off", "step_by_step", "wipe"]
    assert results == {
        "forecast": ToolResult(ok=True, content="Rain in Zürich."),
        "fail": ToolResult(ok=False, content="Error executing tool fail"),
        "step_by_step": ToolResult(ok=True, content="done"),
    }


def test_without_a_state_each_call_is_one_request_that_says_everything() -> None:
    with serving("json", legacy=False) as (client, recording):
        client.call(the_tool("forecast"), {"city": "Oslo"}, "id", terms())
        client.call(the_tool("forecast"), {"city": "Oslo"}, "id", terms())

    methods = [headers["mcp-method"] for _, headers in recording.requests]
    _, last = recording.requests[-1]
    assert methods == ["server/discover", "tools/call", "tools/call"]
    assert (last["mcp-protocol-version"], last["mcp-name"]) == ("2026-07-28", "forecast")
    assert last["accept"] == "application/json, text/event-stream"
    assert "mcp-session-id" not in last


def test_arguments_that_a_tool_wants_to_see_in_headers_are_there_too() -> None:
    wanted = {"City": ("city",), "Days": ("when", "days"), "Sure": ("sure",), "None": ("none",), "Deep": ("city", "x")}
    args = {"city": "Zürich", "when": {"days": 3}, "sure": True, "none": None}
    with serving("json", legacy=False) as (client, recording):
        client.call(the_tool("forecast", wanted), args, "id", terms())

    _, headers = recording.requests[-1]
    told = {name: value for name, value in headers.items() if name.startswith("mcp-param-")}
    assert told == {"mcp-param-city": "=?base64?WsO8cmljaA==?=", "mcp-param-days": "3", "mcp-param-sure": "true"}


def test_a_session_is_begun_once_and_carried_on() -> None:
    with serving("sse", legacy=True) as (client, recording):
        client.call(the_tool("forecast"), {"city": "Oslo"}, "id", terms())
        client.call(the_tool("forecast"), {"city": "Oslo"}, "id", terms())

    [_, (_, hello), *others] = recording.requests
    assert "mcp-protocol-version" not in hello
    assert len(others) == 3
    assert {headers["mcp-protocol-version"] for _, headers in others} == {"2025-11-25"}
    assert len({headers["mcp-session-id"] for _, headers in others}) == 1


def test_an_answer_that_breaks_off_is_read_on_from_its_last_event() -> None:
    with serving("resumable", legacy=True) as (client, recording):
        result = outcome(client.call(the_tool("break_off"), {}, "id", terms()))

    resumed = [headers for method, headers in recording.requests if method == "GET"]
    assert result == ToolResult(ok=True, content="told on the second connection")
    assert resumed
    assert all(headers["last-event-id"] and headers["mcp-session-id"] for headers in resumed)


def test_a_session_that_the_server_has_lost_is_begun_anew_and_the_call_is_made_once() -> None:
    calls = []
    server = weather()

    @server.tool()
    def count() -> str:
        calls.append(1)
        return "counted"

    app = Legacy(server.streamable_http_app(json_response=True))
    with running(app) as url:
        client = McpClient(McpLine(url, loopback=True), CLOCK)
        client.tools(terms())
        server.session_manager._server_instances.clear()
        result = outcome(client.call(the_tool("count"), {}, "id", terms()))

    assert result == ToolResult(ok=True, content="counted")
    assert calls == [1]
