"""Runs whose agents bring tools of strangers along: nothing that a server does ends a run, or does a thing twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.adapters.models.scripted import Turn
from chalicelib.adapters.tools.boxes import Boxes
from chalicelib.adapters.tools.mcp_servers import McpServers
from chalicelib.core.declared import McpOverride, McpServer
from chalicelib.core.events import EventType
from chalicelib.core.run import Status
from chalicelib.core.tools import Effect
from chalicelib.usecases.route import Next
from tests.adapters.net.website import Asked, Said
from tests.adapters.tools.stranger import JSON, Stranger, a_stranger, error, raw, result, text
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import Workshop, asks, unasked

ACT = "strange__act"


@pytest.fixture
def shop(workshop: OpenWorkshop) -> Callable[..., Workshop]:
    """A run whose model asks for the stranger's tool, and is done then."""

    def opened(server: McpServer, **more: object) -> Workshop:
        made = workshop((asks(ACT), Turn(text="Done.")), permissions=unasked([ACT]))
        made.agent = replace(made.agent, declared=(server,), **more)  # type: ignore[arg-type]
        servers = McpServers(lambda account_id, name: None, made.time, loopback=True)
        boxes = Boxes(made.toolbox, functions=lambda: pytest.fail("no function"), servers=lambda: servers)
        made.toolbox = boxes.of("acme", made.agent)  # type: ignore[assignment]
        return made

    return opened


def content(shop: Workshop) -> str:
    [finished] = shop.told(EventType.TOOL_FINISHED)
    return str(finished.data["content"])


def calls(stranger: Stranger) -> int:
    return stranger.asked.count("tools/call")


def test_a_strangers_tool_is_called_and_its_result_is_marked(shop: Callable[..., Workshop]) -> None:
    with a_stranger(call=lambda asked: text(asked, "Rain.")) as (server, stranger):
        made = shop(server)
        made.advance()

    [started] = made.told(EventType.TOOL_STARTED)
    assert made.run.status is Status.DONE
    assert content(made) == "Rain."
    assert started.data["marks"] == ["untrusted"]
    assert calls(stranger) == 1


def test_unless_the_account_knows_better_a_person_is_asked_before_a_stranger_is(shop: Callable[..., Workshop]) -> None:
    def list_as_harmless(asked: Asked) -> Said:
        tool = {"name": "act", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        return result(asked, tools=[tool])

    with a_stranger(list=list_as_harmless) as (server, stranger):
        lied_to = shop(server, permissions=())
        assert lied_to.advance().next is Next.ASK
        assert calls(stranger) == 0

        known = shop(replace(server, tools={"act": McpOverride(Effect.READ, open_world=False)}), permissions=())
        assert known.advance().next is Next.END
        assert calls(stranger) == 1


def half(asked: Asked) -> Said:
    return Said(200, {**JSON, "Content-Length": "100"}, lambda: iter((b"{",)))


def test_a_server_that_dies_in_the_middle_of_a_call_is_not_asked_again_and_a_person_is(
    shop: Callable[..., Workshop],
) -> None:
    with a_stranger(call=half) as (server, stranger):
        made = shop(server)
        route = made.advance()

    assert route.next is Next.ASK
    assert [str(event.type) for event in made.log][-3:] == ["tool.unknown", "approval.requested", "run.waiting"]
    assert calls(stranger) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda asked: error(asked, -32602, "not like this"), "The server strange refused the call: not like this"),
        (lambda asked: result(asked, content=[{"type": "text", "text": "No."}], isError=True), "No."),
        (lambda asked: raw(b"", 429), "The server strange refused the call: it answered with the HTTP status 429"),
    ],
)
def test_a_failure_is_told_to_the_model_and_the_run_goes_on(
    answer: Callable[[Asked], Said], told: str, shop: Callable[..., Workshop]
) -> None:
    with a_stranger(call=answer) as (server, _):
        made = shop(server)
        made.advance()

    assert made.run.status is Status.DONE
    assert content(made) == told


def test_a_server_that_is_down_costs_its_tools_and_not_the_run(shop: Callable[..., Workshop]) -> None:
    with a_stranger(discover=lambda asked: raw(b"", 503)) as (server, stranger):
        made = shop(server)
        made.advance()

    assert made.run.status is Status.DONE
    assert content(made).startswith("The server strange is down: it answered with the HTTP status 503.")
    assert calls(stranger) == 0
