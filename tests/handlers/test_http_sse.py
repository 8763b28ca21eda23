"""The log as Server-Sent Events, window by window."""

from __future__ import annotations

from random import Random
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource

from chalicelib.bootstrap import World
from chalicelib.core import sse
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Unavailable
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Answer, Door
from tests.handlers.test_http_events import submitted, told
from tests.virtual_time import VirtualTime

DROPS = 50


def window(door: Door, run_id: str, query: str = "", **headers: str) -> Answer:
    return door.get(f"/v1/runs/{run_id}/events{query}", Accept="text/event-stream", **headers)


def events(body: str) -> list[dict[str, Any]]:
    response = httpx.Response(200, headers={"Content-Type": sse.MEDIA_TYPE}, content=body.encode())
    return [{"id": int(event.id), **event.json()} for event in EventSource(response).iter_sse()]


def ids(body: str) -> list[int]:
    return [event["id"] for event in events(body)]


def test_the_same_events_come_as_frames(door: Door, world: World) -> None:
    run_id = submitted(door)
    told(world, run_id, 2)

    answer = window(door, run_id)
    page = door.get(f"/v1/runs/{run_id}/events").body

    assert events(answer.body) == [{"id": event["seq"], **event} for event in page["events"]]
    assert answer.body == "retry: 500\n" + "".join(sse.frame(event) for event in page["events"])


def test_a_window_is_kept_by_no_cache_and_held_back_by_no_proxy(door: Door) -> None:
    headers = window(door, submitted(door)).headers

    assert {name: headers[name] for name in sse.HEADERS} == sse.HEADERS


@pytest.mark.parametrize(
    ("accept", "is_sse"),
    [
        ("text/event-stream", True),
        ("TEXT/Event-Stream; charset=utf-8", True),
        ("application/json;q=0.5, text/event-stream;q=0.9", True),
        ("text/event-stream;q=0, application/json", False),
        ("text/event-stream; q=0.0", False),
        ("application/json", False),
        ("text/*", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_only_whoever_names_the_media_type_gets_frames(accept: str, is_sse: bool, door: Door) -> None:
    answer = door.get(f"/v1/runs/{submitted(door)}/events", Accept=accept)

    assert (answer.headers["Content-Type"] == sse.MEDIA_TYPE) == is_sse


def test_a_window_opens_as_soon_as_there_is_one_event(door: Door, world: World, time: VirtualTime) -> None:
    run_id = submitted(door)
    began = time.now()

    def work() -> None:
        time.sleep(3)
        told(world, run_id)

    time.begin(work)

    assert ids(window(door, run_id, "?since=0").body) == [1]
    assert 3 <= (time.now() - began).total_seconds() <= 3.5


def test_a_window_without_news_closes_after_twenty_seconds_with_a_comment(door: Door, time: VirtualTime) -> None:
    run_id = submitted(door)
    began = time.now()

    answer = window(door, run_id, "?since=0")

    assert (answer.status, answer.body) == (200, sse.HEARTBEAT)
    assert (time.now() - began).total_seconds() == 20


def test_what_was_received_counts_more_than_what_the_url_says(door: Door, world: World) -> None:
    run_id = submitted(door)
    told(world, run_id, 3)

    assert ids(window(door, run_id, "?since=0", Last_Event_ID="2").body) == [3]
    assert ids(window(door, run_id, "?since=1", Last_Event_ID="").body) == [2, 3]
    assert ids(window(door, run_id, "?since=1").body) == [2, 3]


def test_after_the_end_nothing_is_sent_ever(door: Door) -> None:
    run_id = submitted(door)
    door.post(f"/v1/runs/{run_id}/cancel")

    end = window(door, run_id)
    after = window(door, run_id, Last_Event_ID=str(ids(end.body)[-1]))

    assert (end.status, events(end.body)[-1]["type"]) == (200, "run.cancelled")
    assert (after.status, after.body) == (204, "")


def test_transient_trouble_is_a_stream_that_says_when_to_come_back(
    door: Door, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def throttle(*args: object, **kwargs: object) -> None:
        raise Unavailable("throttled")

    run_id = submitted(door)
    monkeypatch.setattr(world.runs, "page", throttle)

    answer = window(door, run_id)

    assert (answer.status, answer.body) == (200, sse.trouble())
    assert answer.headers["Content-Type"] == sse.MEDIA_TYPE
    assert door.get(f"/v1/runs/{run_id}/events").status == 503


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("?since=7", {}, 400, "since_ahead_of_log"),
        ("?since=x", {}, 400, "since_not_a_number"),
        ("", {"Last_Event_ID": "x"}, 400, "since_not_a_number"),
        ("", {"Last_Event_ID": "-2"}, 400, "since_too_low"),
        ("", {"Last_Event_ID": "7"}, 400, "since_ahead_of_log"),
        ("?wait=21", {}, 400, "wait_out_of_range"),
        ("?replay=half", {}, 400, "invalid_replay"),
    ],
)
def test_what_the_client_must_mend_stays_a_problem(
    query: str, headers: dict[str, str], status: int, code: str, door: Door
) -> None:
    answer = window(door, submitted(door), query, **headers)

    assert (answer.status, answer.code) == (status, code)


def test_a_cursor_that_cannot_be_meant_is_refused_under_the_name_it_came_by(door: Door) -> None:
    assert window(door, submitted(door), Last_Event_ID="x").body["field"] == "Last-Event-ID"


def test_another_accounts_run_and_a_key_without_the_scope_stay_refused(opened: OpenDoor) -> None:
    theirs = submitted(opened("globex"))

    assert (window(opened("acme"), theirs)).code == "run_not_found"
    assert (window(opened("globex", Scope.RUN), theirs)).code == "scope_missing"


def test_whoever_is_too_far_behind_gets_one_snapshot_frame(door: Door, world: World) -> None:
    run_id = submitted(door)
    door.post(f"/v1/runs/{run_id}/cancel")
    world.config = type(world.config)(table="t", bucket="b", state_machine_arn="a", replay_cap=1)

    summed_up = events(window(door, run_id, "?limit=1").body)
    whole = window(door, run_id, "?limit=1&replay=full")

    assert [(event["id"], event["type"]) for event in summed_up] == [(1, "snapshot")]
    assert ids(whole.body) == [0]


def test_a_full_window_asks_for_the_next_one_soon_and_never_at_once(door: Door, world: World) -> None:
    run_id = submitted(door)
    told(world, run_id, 3)

    assert window(door, run_id, "?limit=2").body.startswith("retry: 250\n")


def test_fifty_windows_cut_anywhere_miss_nothing_and_repeat_nothing(door: Door, world: World) -> None:
    run_id, random = submitted(door), Random(4)
    seen: list[int] = []
    drops = 0
    while drops < DROPS or seen[-1] < 3 * DROPS:
        told(world, run_id, random.randrange(4))
        cursor = {"Last_Event_ID": str(seen[-1])} if seen else {}
        body = window(door, run_id, "?wait=0", **cursor).body
        cut = random.randrange(len(body)) if drops < DROPS else len(body)
        drops += cut < len(body)
        seen += ids(body[:cut])
        if drops == DROPS:
            told(world, run_id, 4)

    assert seen == [*range(len(seen))]
