"""The demos of the useful agents, played by the local cloud without a provider: the scripts and tools that ship."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.adapters.sandbox.proving import ProvenSandbox
from tests.patience import await_true
from tests.stories.conftest import Town, a_town


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


@pytest.fixture
def place(outbox: Path) -> Iterator[Town]:
    with a_town({"PAWL_OUTBOX": str(outbox)}) as town:
        yield town


def results(events: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    names = {event["data"]["call_id"]: event["data"]["name"] for event in events if event["type"] == "tool.started"}
    finished = [event["data"] for event in events if event["type"] == "tool.finished"]
    return [(names.get(each["call_id"], each.get("name", "")), each["ok"]) for each in finished]


def answer(events: list[dict[str, Any]]) -> str:
    assert events[-1]["type"] == "run.done", events[-1]
    return str(events[-1]["data"]["output"]["text"])


def test_the_researcher_goes_on_from_a_page_that_is_not_there_and_keeps_a_note(place: Town) -> None:
    events = place.follow(place.submit("demo-researcher"))

    assert "**Not checked.**" in answer(events)
    assert results(events) == [("http_get", False), ("notes", True), ("notes", True), ("notes", True)]
    note = bootstrap.world().notes.read("acme", "research/larkfield-honey")
    assert note is not None
    assert "180, 210, 260, 310" in note.text


def test_the_analyst_computes_what_it_says_and_leaves_a_table_and_a_chart(place: Town) -> None:
    run_id = place.submit("demo-analyst")
    events = place.follow(run_id)

    said = [event["data"]["content"] for event in events if event["type"] == "tool.finished"]
    assert results(events) == [("run_code", True)] * 2, said
    assert "bread    2460 crowns" in said[0]
    assert "honey     960 crowns, week 4 over week 1: +72%" in said[0]
    assert "all: 5160\neach week above the one before: True" in said[1]
    assert all(figure in answer(events) for figure in ("5160", "2460", "960", "72 %"))
    files = {file["name"]: file["file_id"] for file in place.http.get(f"/v1/runs/{run_id}").json()["files"]}
    chart = place.http.get(f"/v1/runs/{run_id}/files/{files['takings.svg']}", follow_redirects=True)
    assert chart.content.count(b"<rect") == 12
    table = place.http.get(f"/v1/runs/{run_id}/files/{files['takings.csv']}", follow_redirects=True)
    assert table.content.splitlines()[:2] == [b"week,apples,bread,honey", b"1,420,610,180"]


def test_the_analyst_states_no_figure_where_no_code_can_be_run(place: Town) -> None:
    world = bootstrap.world()
    world.sandbox = ProvenSandbox([], world.clock)

    events = place.follow(place.submit("demo-analyst"))

    assert results(events) == [("run_code", False)]
    assert "did not run" in answer(events)
    assert not any(sign.isdigit() for sign in answer(events))


def asked(place: Town, run_id: str) -> dict[str, Any]:
    """The question, once the run waits for its answer and its execution has left its token."""
    place.follow(run_id, until=lambda event: event["type"] == "run.waiting")
    await_true(lambda: bootstrap.world().runs.tail(run_id)[0].token, seconds=10)  # type: ignore[index]
    (found,) = place.http.get("/v1/approvals").json()["approvals"]
    return dict(found)


def decide(place: Town, question: dict[str, Any], decision: str) -> None:
    url = f"/v1/runs/{question['run_id']}/approvals/{question['approval_id']}"
    decided = place.http.post(url, json={"decision": decision, "digest": question["digest"]})
    assert decided.status_code == 200, decided.text


def test_the_assistants_mail_waits_for_a_person_and_goes_out_once_it_is_allowed(place: Town, outbox: Path) -> None:
    run_id = place.submit("demo-assistant")
    question = asked(place, run_id)
    assert (question["name"], question["args"]["to"]) == ("send_email", ["anna@larkfield.example"])
    assert not outbox.exists()

    decide(place, question, "approve")

    events = place.follow(run_id)
    assert "went out as it was allowed" in answer(events)
    assert results(events) == [("notes", True), ("notes", True), ("send_email", True)]
    [mail] = outbox.glob("*.eml")
    assert message_from_bytes(mail.read_bytes())["Subject"] == "Larkfield market, week 4"


def test_the_assistant_does_not_say_that_a_denied_mail_went_out(place: Town, outbox: Path) -> None:
    run_id = place.submit("demo-assistant")

    decide(place, asked(place, run_id), "deny")

    assert "I can't say that the mail went out" in answer(place.follow(run_id))
    assert not outbox.exists()
