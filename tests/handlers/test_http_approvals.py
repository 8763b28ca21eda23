"""Questions and answers over HTTP: what a request must say. What an answer makes of a run stands in tests/usecases."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import ScriptedModel, Turn
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.bootstrap import World
from chalicelib.core import sse
from chalicelib.core.agent import Agent
from chalicelib.core.reply import AskedCall
from chalicelib.core.tools import Effect, Invocation, ToolSpec
from chalicelib.handlers import workflow
from tests.handlers.door import Answer, Door
from tests.handlers.test_http_sse import events
from tests.handlers.test_workflow import Context
from tests.virtual_time import VirtualTime

RUN = "/v1/runs/run_00000000000000000000000001"
GOOD = {"decision": "approve", "digest": "d"}

BAD: list[tuple[str, str, Any, str, str | None]] = [
    ("no JSON", "approvals/ap_1", b"{", "invalid_json", None),
    ("no decision", "approvals/ap_1", {"digest": "d"}, "missing_field", "decision"),
    ("no digest", "approvals/ap_1", {"decision": "approve"}, "missing_field", "digest"),
    ("no such decision", "approvals/ap_1", GOOD | {"decision": "maybe"}, "invalid_decision", "decision"),
    ("a string for args", "approvals/ap_1", GOOD | {"args": "x"}, "wrong_type", "args"),
    ("a string for a grant", "approvals/ap_1", GOOD | {"grant": "yes"}, "wrong_type", "grant"),
    ("an unknown field", "approvals/ap_1", GOOD | {"force": True}, "unknown_field", "force"),
    ("a result without content", "tool-results/c", {"ok": True}, "missing_field", "content"),
    ("a number for ok", "tool-results/c", {"ok": 1, "content": "x"}, "wrong_type", "ok"),
    ("an unknown field of a result", "tool-results/c", {"ok": True, "content": "", "x": 1}, "unknown_field", "x"),
]


@pytest.mark.parametrize(("place", "body", "code", "field"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_cannot_be_meant_is_refused_by_name(
    door: Door, place: str, body: Any, code: str, field: str | None
) -> None:
    answer = door.post(f"{RUN}/{place}", body)
    assert (answer.status, answer.code, answer.body.get("field")) == (400, code, field)


@pytest.mark.parametrize(
    ("place", "body"), [("approvals/ap_1", GOOD), ("tool-results/c", {"ok": True, "content": "x"})]
)
def test_a_run_that_is_not_there_is_a_404(door: Door, place: str, body: Any) -> None:
    answer = door.post(f"{RUN}/{place}", body)
    assert (answer.status, answer.code) == (404, "run_not_found")


def test_an_empty_inbox_is_an_empty_list(door: Door) -> None:
    assert door.get("/v1/approvals").body == {"approvals": [], "next": None}


@pytest.mark.parametrize("query", ["limit=0", "limit=51", "next=x", "status=open"])
def test_an_inbox_is_asked_for_in_its_own_words(door: Door, query: str) -> None:
    assert door.get(f"/v1/approvals?{query}").status == 400


HOURS = 23
"""The agent's questions are open for 24."""


class Office:
    """One agent, who asks before it sends."""

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return Agent("mail", "", "", "scripted:mail", ("send",))

    def all(self, account_id: str) -> list[Agent]:
        return []


@pytest.fixture
def sent(world: World) -> list[dict[str, Any]]:
    """What was sent by the world's one agent."""
    mails: list[dict[str, Any]] = []

    def send(invocation: Invocation) -> str:
        mails.append(dict(invocation.call.args))
        return "sent"

    script = (Turn(calls=(AskedCall("send", {"to": "anna"}),)), Turn(text="Sent."))
    world.agents = Office()
    world.model = RoutedModel({"scripted": ScriptedModel({"mail": script}, world.clock)})
    spec = ToolSpec("send", "", {"type": "object"}, Effect.IRREVERSIBLE)
    world.toolboxes = Shared(FunctionToolbox([(spec, send)]))
    return mails


def advance(run_id: str) -> str:
    step = workflow.advance({"run_id": run_id, "start": 1, "lap": 0}, Context(900))
    return str(step["next"])


def window(door: Door, run_id: str, last: int) -> Answer:
    headers = {"Accept": "text/event-stream", "Last_Event_ID": str(last)}
    return door.get(f"/v1/runs/{run_id}/events", **headers)


def test_a_window_tells_the_question_and_a_later_one_goes_on_however_long_the_answer_took(
    door: Door, world: World, time: VirtualTime, sent: list[dict[str, Any]]
) -> None:
    run_id = door.post("/v1/runs", {"agent": "mail", "text": "go"}).body["run_id"]
    assert advance(run_id) == "ask"

    first = events(window(door, run_id, -1).body)
    asked = next(event["data"] for event in first if event["type"] == "approval.requested")
    assert first[-1]["type"] == "run.waiting"
    assert window(door, run_id, first[-1]["id"]).body == sse.HEARTBEAT

    time.sleep(HOURS * 3600)
    answer = door.post(
        f"/v1/runs/{run_id}/approvals/{asked['approval_id']}", {"decision": "approve", "digest": asked["digest"]}
    )
    assert (answer.status, advance(run_id)) == (200, "end")

    rest = events(window(door, run_id, first[-1]["id"]).body)
    assert [event["id"] for event in [*first, *rest]] == list(range(rest[-1]["id"] + 1))
    assert (rest[0]["type"], rest[-1]["type"], sent) == ("approval.resolved", "run.done", [{"to": "anna"}])
