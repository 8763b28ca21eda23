"""A risky call, from the question to the effect: over HTTP, with the real state machine and its task tokens."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx_sse import connect_sse

from chalicelib import bootstrap
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Turn
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.core.agent import Agent
from chalicelib.core.reply import AskedCall
from chalicelib.core.tools import Answers, Effect, Invocation, ToolSpec
from tests.patience import await_true
from tests.stories.conftest import OpenTown, Town

SCRIPTS: dict[str, Script] = {
    "mail": (Turn(calls=(AskedCall("send", {"to": "anna"}),)), Turn(text="Sent.")),
    "review": (Turn(calls=(AskedCall("review", {}),)), Turn(text="Reviewed.")),
}
ANY = {"type": "object"}


class Agents:
    """One for each script, with both tools."""

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return Agent(name, "", "", f"scripted:{name}", ("send", "review")) if name in SCRIPTS else None

    def all(self, account_id: str) -> list[Agent]:
        return []


class Post:
    """A letter box: what was sent through the risky tool."""

    def __init__(self, place: Town) -> None:
        self.place = place
        self.sent: list[dict[str, Any]] = []
        world = bootstrap.world()
        world.agents = Agents()
        world.model = RoutedModel({"scripted": ScriptedModel(SCRIPTS, world.clock)})
        world.toolboxes = Shared(
            FunctionToolbox(
                [
                    (ToolSpec("send", "", ANY, Effect.IRREVERSIBLE), self._send),
                    (ToolSpec("review", "", ANY, Effect.READ, open_world=False, answers=Answers.OUTSIDE), self._never),
                ]
            )
        )

    def _send(self, invocation: Invocation) -> str:
        self.sent.append(dict(invocation.call.args))
        return "sent"

    def _never(self, invocation: Invocation) -> str:
        raise AssertionError("a tool that is answered from outside is never called")

    def wait_for_question(self, run_id: str) -> dict[str, Any]:
        """The question in the inbox, once the run waits for its answer and its execution has left its token."""
        self.place.follow(run_id, until=lambda event: event["type"] == "run.waiting")
        await_true(lambda: bootstrap.world().runs.tail(run_id)[0].token, seconds=10)  # type: ignore[index]
        (asked,) = self.place.http.get("/v1/approvals").json()["approvals"]
        assert asked["run_id"] == run_id
        return dict(asked)

    def decide(self, asked: dict[str, Any], decision: str, **more: Any) -> Any:
        url = f"/v1/runs/{asked['run_id']}/approvals/{asked['approval_id']}"
        return self.place.http.post(url, json={"decision": decision, "digest": asked["digest"], **more})


@pytest.fixture
def post(town: OpenTown) -> Post:
    return Post(town())


def test_nothing_is_sent_before_the_approval_and_it_is_sent_once_after_it(post: Post) -> None:
    run_id = post.place.submit("mail")
    asked = post.wait_for_question(run_id)
    assert (asked["name"], asked["args"], post.sent) == ("send", {"to": "anna"}, [])
    assert post.decide(asked, "approve").status_code == 200
    assert post.place.follow(run_id)[-1]["data"] == {"output": {"text": "Sent."}}
    assert post.sent == [{"to": "anna"}]
    assert post.place.http.get("/v1/approvals").json()["approvals"] == []
    assert post.place.states_entered(run_id) == ["Advance", "Route", "AwaitAnswer", "Advance", "Route", "Done"]


def stream_of(place: Town, run_id: str, last: int | None = None) -> Generator[dict[str, Any], None, None]:
    """The run's events on one connection, which lasts as long as one goes on reading."""
    seen = {} if last is None else {"Last-Event-ID": str(last)}
    headers = {"Accept": "text/event-stream", **seen}
    with connect_sse(place.http, "GET", f"/v1/runs/{run_id}/stream", headers=headers) as source:
        for event in source.iter_sse():
            yield json.loads(event.data)


def read_on(events: Iterator[dict[str, Any]], until: str) -> list[dict[str, Any]]:
    read = []
    for event in events:
        read.append(event)
        if event["type"] == until:
            return read
    raise AssertionError(f"the stream ended without {until}: {[event['type'] for event in read]}")


@pytest.mark.parametrize("stays", [True, False], ids=["whoever stays", "whoever comes back"])
def test_a_stream_tells_the_question_and_goes_on_after_the_answer(post: Post, stays: bool) -> None:
    run_id = post.place.submit("mail")
    stream = stream_of(post.place, run_id)
    before = read_on(stream, "run.waiting")
    if not stays:
        stream.close()
    asked = next(event["data"] for event in before if event["type"] == "approval.requested")
    assert post.decide({"run_id": run_id, **asked}, "approve").status_code == 200
    rest = stream if stays else stream_of(post.place, run_id, last=before[-1]["seq"])
    after = read_on(rest, "run.done")
    assert [event["seq"] for event in [*before, *after]] == list(range(after[-1]["seq"] + 1))
    assert after[0]["type"] == "approval.resolved"
    assert post.sent == [{"to": "anna"}]


def test_an_edited_call_is_the_one_that_is_made(post: Post) -> None:
    run_id = post.place.submit("mail")
    asked = post.wait_for_question(run_id)
    assert post.decide(asked, "edit", args={"to": "bert"}).status_code == 200
    post.place.follow(run_id)
    assert post.sent == [{"to": "bert"}]


def test_of_two_decisions_the_first_stands_and_the_other_is_a_409(post: Post) -> None:
    run_id = post.place.submit("mail")
    asked = post.wait_for_question(run_id)
    assert post.decide(asked, "deny").status_code == 200
    other = post.decide(asked, "approve")
    assert (other.status_code, other.json()["code"]) == (409, "approval_decided")
    assert post.decide(asked, "deny").status_code == 200
    assert post.place.follow(run_id)[-1]["type"] == "run.done"
    assert post.sent == []


def test_a_cancel_closes_the_question_and_leaves_no_execution_behind(post: Post) -> None:
    run_id = post.place.submit("mail")
    asked = post.wait_for_question(run_id)
    post.place.cancel(run_id)
    late = post.decide(asked, "approve")
    assert (late.status_code, late.json()["code"]) == (409, "run_over")
    assert post.place.states_entered(run_id)[-1] == "Done"
    assert post.sent == []


def test_a_result_from_outside_takes_the_run_on(post: Post) -> None:
    run_id = post.place.submit("review")
    waiting = post.place.follow(run_id, until=lambda event: event["type"] == "run.waiting")[-1]
    assert waiting["data"]["for"] == "tool"
    url = f"/v1/runs/{run_id}/tool-results/{run_id}-1-0"
    assert post.place.http.post(url, json={"ok": True, "content": "fine"}).status_code == 200
    assert post.place.follow(run_id)[-1]["data"] == {"output": {"text": "Reviewed."}}


def test_of_fifty_decisions_at_once_one_stands_and_every_other_is_told_so(post: Post) -> None:
    run_id = post.place.submit("mail")
    asked = post.wait_for_question(run_id)
    with ThreadPoolExecutor(25) as hands:
        answers = [*hands.map(lambda n: post.decide(asked, ("approve", "deny")[n % 2]), range(50))]
    events = post.place.follow(run_id)
    (resolved,) = (event for event in events if event["type"] == "approval.resolved")
    stands = {"approve": 0, "deny": 1}[resolved["data"]["decision"]]
    assert [answer.status_code for answer in answers] == [200 if n % 2 == stands else 409 for n in range(50)]
    assert {answer.json()["seq"] for answer in answers if answer.status_code == 200} == {resolved["seq"]}
    assert len(post.sent) == (stands == 0)
