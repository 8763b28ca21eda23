"""MCP servers that die, lie and talk too much: each of it is a result, and no end of the run."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import repeat
from typing import Any

import pytest

from chalicelib.adapters.system import SystemClock
from chalicelib.adapters.tools.mcp_servers import KEPT, KEPT_IF_DOWN, MOST_SERVERS, McpServers
from chalicelib.core.declared import McpServer
from chalicelib.core.errors import Unavailable
from chalicelib.core.mcp import RemoteTool
from chalicelib.core.tools import Effect, ToolResult, ToolSpec
from tests.a_call import an_invocation
from tests.adapters.net.website import Asked, Said
from tests.adapters.tools.stranger import (
    JSON,
    STREAM,
    a_stranger,
    error,
    nothing_special,
    raw,
    result,
    text,
)
from tests.patience import await_true

SECRET = 's3cret/of+the="account"'


class ShiftedClock(SystemClock):
    """The real time, and what a test adds to it."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> Any:
        return super().now() + self.ahead


@pytest.fixture
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest.fixture
def servers(clock: ShiftedClock) -> McpServers:
    return McpServers(lambda account_id, name: {"key": SECRET}.get(name), clock, loopback=True)


def called(
    servers: McpServers,
    server: McpServer,
    effect: Effect = Effect.IRREVERSIBLE,
    *,
    seconds: float = 5,
    **more: Any,
) -> ToolResult:
    deadline = SystemClock().now() + timedelta(seconds=seconds)
    tool = RemoteTool("act", ToolSpec("strange__act", "Acts.", {"type": "object"}, effect))
    return servers.call(server, tool, an_invocation("strange__act", {"a": 1}, deadline=deadline, **more))


def endless(piece: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: repeat(piece)


def silent() -> Iterator[bytes]:
    threading.Event().wait(1)
    return iter(())


def half(asked: Asked) -> Said:
    return Said(200, {**JSON, "Content-Length": "100"}, lambda: iter((b'{"jsonrpc": "2.0", ',)))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (half, "the connection failed (ProtocolError)"),
        (lambda asked: raw(b'{"jsonrpc": '), "its answer is no JSON"),
        (lambda asked: raw(b"[" * 100_000), "its answer is no JSON"),
        (lambda asked: raw(b'{"result": {"a": NaN}}'), "its answer is no JSON"),
        (lambda asked: raw(b'{"result": {"a": -1e999}}'), "its answer is no JSON"),
        (lambda asked: raw(b"[]"), "its answer is neither a result nor an error"),
        (lambda asked: raw(b"<html>", headers={"Content-Type": "text/html"}), "neither JSON nor a stream of events"),
        (
            lambda asked: raw(b"{}", headers={**JSON, "Content-Encoding": "br"}),
            "encoded in a way that was not asked for",
        ),
        (lambda asked: raw(b"", 502), "it answered with the HTTP status 502"),
        (lambda asked: raw(b"data: {}\n\n", headers=STREAM), "its stream ended without an answer"),
        (lambda asked: Said(200, JSON, endless(b" " * 65_536)), "its answer is longer than 2097152 bytes"),
        (lambda asked: Said(200, STREAM, endless(b": x\n\n" * 9_999)), "its answer is longer than 2097152 bytes"),
        (lambda asked: Said(200, STREAM, endless(b"x" * 65_536)), "its answer is longer than 2097152 bytes"),
    ],
)
def test_a_call_without_a_usable_answer_may_have_had_its_effect(
    answer: Callable[[Asked], Said], said: str, servers: McpServers
) -> None:
    with a_stranger(call=answer) as (server, stranger):
        irreversible = called(servers, server)
        repeatable = called(servers, server, Effect.IDEMPOTENT)

    assert irreversible.content.startswith("The server strange was asked, and gave no usable answer: ")
    assert said in irreversible.content
    assert (irreversible.ok, irreversible.unknown) == (False, True)
    assert (repeatable.ok, repeatable.unknown) == (False, False)
    assert stranger.asked == ["server/discover", "tools/call", "tools/call"]


def test_a_server_that_says_nothing_is_not_waited_for_beyond_the_deadline(servers: McpServers) -> None:
    with a_stranger(call=lambda asked: Said(200, JSON, silent)) as (server, _):
        result = called(servers, server, seconds=0.5)

    assert result.unknown
    assert "there was no whole answer in time" in result.content


def test_a_cancelled_call_hangs_up(servers: McpServers) -> None:
    stop, begun, gone = threading.Event(), threading.Event(), threading.Event()

    def dripping() -> Iterator[bytes]:
        begun.set()
        try:
            while True:
                yield b": still here\n\n"
                threading.Event().wait(0.02)
        finally:
            gone.set()

    with a_stranger(call=lambda asked: Said(200, STREAM, dripping)) as (server, _):
        thread = threading.Thread(target=called, args=(servers, server), kwargs={"seconds": 60, "stop": stop})
        thread.start()
        assert begun.wait(5)
        stop.set()
        thread.join(5)

        assert not thread.is_alive()
        await_true(gone.is_set, 5)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda asked: error(asked, -32602, "no such tool"), "no such tool"),
        (lambda asked: error(asked, -32601, "no such method", 404), "no such method"),
        (lambda asked: raw(b"who are you?", 401), "it answered with the HTTP status 401"),
        (
            lambda asked: raw(b"", 302, {"Location": "https://elsewhere.example/"}),
            "it answered with the HTTP status 302",
        ),
    ],
)
def test_a_refusal_is_a_failure_that_everybody_knows_of(
    answer: Callable[[Asked], Said], said: str, servers: McpServers
) -> None:
    with a_stranger(call=answer) as (server, _):
        result = called(servers, server)

    assert result == ToolResult(ok=False, content=f"The server strange refused the call: {said}")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"content": [{"type": "text", "text": "one"}, {"type": "resource", "resource": {"text": "two"}}]},
            ToolResult(ok=True, content="one\ntwo"),
        ),
        ({"content": [], "structuredContent": {"a": "é"}}, ToolResult(ok=True, content='{"a": "é"}')),
        ({"content": [{"type": "text", "text": "No."}], "isError": True}, ToolResult(ok=False, content="No.")),
        (
            {
                "content": [
                    {"type": "image", "data": "AAAA"},
                    {"type": "new"},
                    {"type": "resource_link", "uri": "a:b"},
                    7,
                ]
            },
            ToolResult(
                ok=True,
                content="[image of 3 bytes, not shown]\n[content of the kind 'new', not shown]\n[link: a:b]\n"
                "[content of the kind 'None', not shown]",
            ),
        ),
        ({"content": [{"type": "text", "text": "half \ud83d"}]}, ToolResult(ok=True, content="half ?")),
        ({"content": "nonsense"}, ToolResult(ok=True, content="")),
        (
            {"resultType": "input_required", "inputRequests": {"a": {"params": {"message": "Which city?"}}}},
            ToolResult(
                ok=False,
                content="Not done: the tool asks for more than its arguments. It says: Which city? "
                "Nobody can answer it here: do without.",
            ),
        ),
        ({"resultType": "task"}, ToolResult(ok=False, content="The tool gave a result of an unknown kind: 'task'.")),
    ],
)
def test_what_a_tool_answers_is_told_as_text(members: Any, expected: ToolResult, servers: McpServers) -> None:
    with a_stranger(call=lambda asked: result(asked, **members)) as (server, _):
        assert called(servers, server) == expected


def test_the_key_of_a_call_goes_with_it(servers: McpServers) -> None:
    with a_stranger() as (server, stranger):
        called(servers, server)

    params = json.loads(stranger.requests[-1].body)["params"]
    assert params["name"] == "act"
    assert params["arguments"] == {"a": 1}
    assert params["_meta"]["pawl/call-id"] == an_invocation("x").call.call_id
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


def test_a_server_that_is_gone_was_not_asked(servers: McpServers) -> None:
    with a_stranger() as (server, _):
        pass

    result = called(servers, server)

    assert not result.unknown
    assert result.content == "The server strange was not asked: the connection failed (ConnectionRefusedError)."


def test_what_fails_before_the_call_is_sent_leaves_no_doubt(servers: McpServers) -> None:
    with a_stranger(discover=lambda asked: raw(b"", 503)) as (server, stranger):
        result = called(servers, server)

    assert not result.unknown
    assert result.content == "The server strange was not asked: it answered with the HTTP status 503."
    assert stranger.asked == ["server/discover"]


def test_a_server_that_names_a_version_we_know_with_its_refusal_is_taken_at_its_word(servers: McpServers) -> None:
    error = {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"]}}

    def choosy(asked: Asked) -> Said:
        return raw(json.dumps({"jsonrpc": "2.0", "id": 1, "error": error}).encode(), 400)

    with a_stranger(discover=choosy) as (server, stranger):
        assert called(servers, server).content == "acted"

    assert stranger.asked == ["server/discover", "tools/call"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://127.0.0.1/mcp", "only public names are reached, no addresses"),
        ("https://localhost/mcp", "only public names are reached, no addresses"),
        ("http://mcp.example.com/mcp", "only https is spoken"),
        ("https://mcp.example.com:8443/mcp", "mcp.example.com:8443 is none of the allowed hosts"),
        ("https://user:word@mcp.example.com/", "a URL must not carry a name or a password"),
    ],
)
def test_a_deployment_reaches_public_names_only_and_by_https_only(url: str, why: str) -> None:
    deployed = McpServers(lambda account_id, name: None, SystemClock())

    result = called(deployed, McpServer("strange", url))

    assert result == ToolResult(
        ok=False, content=f"The server strange was not asked: its address may not be reached: {why}."
    )


def test_a_name_that_leads_inside_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("169.254.169.254", 443))])
    deployed = McpServers(lambda account_id, name: None, SystemClock(), loopback=True)

    result = called(deployed, McpServer("strange", "https://mcp.example.com/"))

    assert "does not resolve to public addresses only" in result.content


def test_the_secret_goes_as_a_bearer_token_and_is_told_to_nobody(
    servers: McpServers, caplog: pytest.LogCaptureFixture
) -> None:
    def echo(asked: Asked) -> Said:
        return text(asked, f"You sent {asked.headers['authorization']}")

    def betray(asked: Asked) -> Said:
        return error(asked, -1, f"Go away with {SECRET}")

    with caplog.at_level(logging.DEBUG), a_stranger("key", call=echo, list=betray) as (server, stranger):
        result = called(servers, server)
        [listing] = servers.listings("acme", [server]).values()

    assert {asked.headers["authorization"] for asked in stranger.requests} == {f"Bearer {SECRET}"}
    assert result == ToolResult(ok=True, content="You sent Bearer [secret]")
    assert listing.problem == "Go away with [secret]"
    assert SECRET not in caplog.text


def test_without_its_secret_a_server_is_not_asked(servers: McpServers) -> None:
    with a_stranger("none") as (server, stranger):
        result = called(servers, server)

    assert result == ToolResult(ok=False, content="The server strange was not asked: the account has no secret none.")
    assert stranger.asked == []


def test_a_description_is_not_the_way_to_tell_a_model_the_secret(servers: McpServers) -> None:
    def echo(asked: Asked) -> Said:
        return result(asked, tools=[nothing_special(description=f"You sent {asked.headers['authorization']}.")])

    with a_stranger("key", list=echo) as (server, _):
        [listing] = servers.listings("acme", [server]).values()

    assert [entry["description"] for entry in listing.entries] == ["You sent Bearer [secret]."]


def test_a_secret_of_digits_is_taken_out_of_numbers_too_and_the_list_stays_one() -> None:
    digits = "1234567890"

    def echo(asked: Asked) -> Said:
        odd = {"type": "object", "properties": {digits: {"maximum": int(digits), "minimum": 1, "default": None}}}
        return result(asked, tools=[{"name": "act", "inputSchema": odd}])

    with a_stranger("key", list=echo) as (server, _):
        [listing] = McpServers(lambda *_: digits, SystemClock(), loopback=True).listings("acme", [server]).values()

    assert listing.problem is None
    [entry] = listing.entries
    assert entry["inputSchema"]["properties"] == {"[secret]": {"maximum": "[secret]", "minimum": 1, "default": None}}


def test_a_look_that_fails_in_no_foreseen_way_is_kept_as_a_server_that_is_down(clock: ShiftedClock) -> None:
    looks: list[str] = []

    def breaks(account_id: str, name: str) -> str:
        looks.append(name)
        raise ZeroDivisionError("a fault of ours")

    with a_stranger("key") as (server, _):
        servers = McpServers(breaks, clock, loopback=True)
        [listing] = servers.listings("acme", [server]).values()
        assert listing.problem == "its list could not be read (ZeroDivisionError)"
        assert servers.are_known("acme", [server])
        servers.listings("acme", [server])
        assert len(looks) == 1

        clock.ahead += KEPT_IF_DOWN
        servers.listings("acme", [server])
        assert len(looks) == 2


def unavailable(account_id: str, name: str) -> str:
    raise Unavailable("SSM does not answer")


@pytest.mark.parametrize(
    ("secret_of", "why"),
    [
        (unavailable, "the secret key cannot be fetched at the moment"),
        (lambda account_id, name: "two\r\nlines", "the secret key holds characters that no HTTP header takes"),
        (lambda account_id, name: "", "the account has no secret key"),
    ],
)
def test_a_secret_that_cannot_be_had_or_sent_means_no_call(secret_of: Callable[[str, str], str], why: str) -> None:
    with a_stranger("key") as (server, stranger):
        result = called(McpServers(secret_of, SystemClock(), loopback=True), server)

    assert result == ToolResult(ok=False, content=f"The server strange was not asked: {why}.")
    assert stranger.asked == []


def test_a_list_of_many_pages_is_read_to_its_end_or_bound(servers: McpServers) -> None:
    def pages(asked: Asked) -> Said:
        page = int(json.loads(asked.body)["params"].get("cursor", 0))
        return result(asked, tools=[nothing_special(f"t{page}")], nextCursor=str(page + 1))

    with a_stranger(list=pages) as (server, stranger):
        [listing] = servers.listings("acme", [server]).values()

    assert [entry["name"] for entry in listing.entries] == [f"t{page}" for page in range(20)]
    assert stranger.asked.count("tools/list") == 20


def test_a_list_is_kept_for_a_while_for_each_account(servers: McpServers, clock: ShiftedClock) -> None:
    with a_stranger() as (server, stranger):
        for account_id in ("acme", "acme", "other"):
            servers.listings(account_id, [server])
        assert stranger.asked.count("tools/list") == 2

        clock.ahead += KEPT
        servers.listings("acme", [server])
        assert stranger.asked.count("tools/list") == 3


def test_a_server_that_is_down_is_asked_again_soon_and_not_at_once(servers: McpServers, clock: ShiftedClock) -> None:
    with a_stranger(list=lambda asked: raw(b"", 500)) as (server, stranger):
        first, second = servers.listings("acme", [server]), servers.listings("acme", [server])
        assert first == second
        assert first["strange"].problem == "it answered with the HTTP status 500"
        assert stranger.asked.count("tools/list") == 1

        stranger.answers["tools/list"] = lambda asked: result(asked, tools=[nothing_special()])
        clock.ahead += KEPT_IF_DOWN
        assert servers.listings("acme", [server])["strange"].problem is None


def test_servers_are_asked_side_by_side_and_a_slow_one_costs_its_own_tools_only(
    servers: McpServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.adapters.tools.mcp_servers.LISTING_SECONDS", 0.5)
    with a_stranger(list=lambda asked: Said(200, JSON, silent)) as (slow, _), a_stranger() as (quick, _):
        found = servers.listings("acme", [McpServer("slow", slow.url), McpServer("quick", quick.url)])

    assert found["slow"].problem == "there was no whole answer in time"
    assert [entry["name"] for entry in found["quick"].entries] == ["act"]


def test_only_so_many_servers_are_remembered(servers: McpServers) -> None:
    with a_stranger() as (server, stranger):
        servers.listings("acme", [server])
        gone = [McpServer("gone", f"https://{at}/") for at in range(MOST_SERVERS)]
        for each in gone:
            servers.listings("acme", [each])
        servers.listings("acme", [server])

    assert stranger.asked.count("tools/list") == 2
