"""The read of the log: the cursor, the page, the poll that is held."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.bootstrap import World
from chalicelib.core.change import record
from chalicelib.core.events import EventType
from tests.builders import a_stamp
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Door
from tests.virtual_time import VirtualTime


def submitted(door: Door) -> str:
    return str(door.post("/v1/runs", {"agent": "demo", "text": "go"}).body["run_id"])


def told(world: World, run_id: str, count: int = 1) -> None:
    """So much more text comes into the log."""
    for _ in range(count):
        found = world.runs.tail(run_id)
        assert found is not None
        text = record(EventType.TEXT_DELTA, {"text": "word "}, tail=found[1].seq, stamp=a_stamp(1))
        world.runs.append(found[0], text)


def seqs(page: dict[str, Any]) -> list[int]:
    return [event["seq"] for event in page["events"]]


def test_the_log_is_read_page_by_page_from_the_cursor(door: Door, world: World) -> None:
    run_id = submitted(door)
    told(world, run_id, 5)

    first = door.get(f"/v1/runs/{run_id}/events?limit=4").body
    second = door.get(f"/v1/runs/{run_id}/events?limit=4&since={first['next_since']}").body

    assert (seqs(first), first["status"], first["has_more"], first["next_poll_ms"]) == ([0, 1, 2, 3], None, True, 0)
    assert (seqs(second), second["status"], second["has_more"]) == ([4, 5], "pending", False)


def test_whoever_has_everything_gets_nothing_and_keeps_the_cursor(door: Door) -> None:
    run_id = submitted(door)

    page = door.get(f"/v1/runs/{run_id}/events?since=0").body

    assert page == {
        "events": [],
        "next_since": 0,
        "has_more": False,
        "status": "pending",
        "done": False,
        "next_poll_ms": 500,
    }


def test_the_end_is_delivered_and_then_stays_done(door: Door) -> None:
    run_id = submitted(door)
    door.post(f"/v1/runs/{run_id}/cancel")

    page = door.get(f"/v1/runs/{run_id}/events").body
    again = door.get(f"/v1/runs/{run_id}/events?since={page['next_since']}").body

    assert [event["type"] for event in page["events"]] == ["run.accepted", "run.cancelled"]
    assert (page["done"], again["done"], again["events"]) == (True, True, [])


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("since=abc", "since_not_a_number", "since"),
        ("since=", "since_not_a_number", "since"),
        ("since=1.0", "since_not_a_number", "since"),
        ("since=1e3", "since_not_a_number", "since"),
        ("since=+1", "since_not_a_number", "since"),
        ("since=%D9%A1", "since_not_a_number", "since"),
        ("since=-2", "since_too_low", "since"),
        ("since=1", "since_ahead_of_log", "since"),
        ("since=99999999999999999999", "since_ahead_of_log", "since"),
        ("limit=0", "limit_out_of_range", "limit"),
        ("limit=1001", "limit_out_of_range", "limit"),
        ("limit=all", "limit_out_of_range", "limit"),
        ("wait=21", "wait_out_of_range", "wait"),
        ("wait=-1", "wait_out_of_range", "wait"),
        ("wait=soon", "wait_out_of_range", "wait"),
        ("sinse=4", "unknown_field", "sinse"),
    ],
)
def test_a_read_that_cannot_be_meant_is_refused(query: str, code: str, field: str, door: Door) -> None:
    answer = door.get(f"/v1/runs/{submitted(door)}/events?{query}")

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)


def test_another_accounts_run_is_not_there_on_a_full_page_either(opened: OpenDoor, world: World) -> None:
    theirs = submitted(opened("globex"))
    told(world, theirs, 3)

    answer = opened("acme").get(f"/v1/runs/{theirs}/events?limit=1")

    assert (answer.status, answer.code) == (404, "run_not_found")


def test_a_held_poll_answers_as_soon_as_something_comes(door: Door, world: World, time: VirtualTime) -> None:
    run_id = submitted(door)
    began = time.now()

    def work() -> None:
        time.sleep(3)
        told(world, run_id)

    time.begin(work)

    page = door.get(f"/v1/runs/{run_id}/events?since=0&wait=20").body

    assert seqs(page) == [1]
    assert 3 <= (time.now() - began).total_seconds() <= 3.5


def test_a_held_poll_gives_up_in_time(door: Door, time: VirtualTime) -> None:
    run_id = submitted(door)
    began = time.now()

    page = door.get(f"/v1/runs/{run_id}/events?since=0&wait=20").body

    assert seqs(page) == []
    assert (time.now() - began).total_seconds() == 20


@pytest.mark.parametrize("since", [-1, 1])
def test_a_poll_is_not_held_when_there_is_something_to_say_or_nothing_more_will_come(
    since: int, door: Door, time: VirtualTime
) -> None:
    run_id = submitted(door)
    door.post(f"/v1/runs/{run_id}/cancel")
    began = time.now()

    page = door.get(f"/v1/runs/{run_id}/events?since={since}&wait=20").body

    assert page["done"]
    assert time.now() == began
