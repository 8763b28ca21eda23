"""Who comes too late for a log, or when it is gone: by whichever way out, the same is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource, connect_sse

from app import app
from chalicelib import bootstrap
from chalicelib.usecases.archive import archive_old
from tests.handlers.door import Door
from tests.socket_client import a_socket
from tests.stories.conftest import OpenTown, Town
from tests.virtual_time import VirtualTime

Events = list[dict[str, Any]]
SSE = {"Accept": "text/event-stream"}


def by_poll(place: Town, run_id: str, **asked: str) -> Events:
    seen: Events = []
    done = False
    while not done:
        since = {"since": seen[-1]["seq"]} if seen else {}
        page = place.http.get(f"/v1/runs/{run_id}/events", params={"limit": 4, **since, **asked}).json()
        seen += page["events"]
        done = page["done"]
    return seen


def by_windows(place: Town, run_id: str, **asked: str) -> Events:
    """SSE from the REST API's own function, which buffers; on the laptop its URL streams."""
    seen: Events = []
    door, query = Door(app, place.key), "&".join(["limit=4", *(f"{name}={value}" for name, value in asked.items())])
    while True:
        cursor = {"Last-Event-ID": str(seen[-1]["seq"])} if seen else {}
        answer = door.get(f"/v1/runs/{run_id}/events?{query}", Accept=SSE["Accept"], **cursor)
        if answer.status == 204:
            return seen
        response = httpx.Response(200, headers={"Content-Type": SSE["Accept"]}, content=answer.body.encode())
        seen += [json.loads(event.data) for event in EventSource(response).iter_sse()]


def by_stream(place: Town, run_id: str, **asked: str) -> Events:
    with connect_sse(place.http, "GET", f"/v1/runs/{run_id}/stream", params=asked, headers=SSE) as source:
        return [json.loads(event.data) for event in source.iter_sse()]


def by_socket(place: Town, run_id: str, **asked: str) -> Events:
    ticket = place.http.post("/v1/tickets", json={}).json()["ticket"]
    with a_socket(place.cloud.url, ticket) as socket:
        socket.ask("subscribe", run_id=run_id, **asked)
        socket.hear_to_the_end(run_id)
        return socket.reader.events


WAYS_OUT: list[Callable[..., Events]] = [by_poll, by_windows, by_stream, by_socket]


@pytest.fixture
def place(town: OpenTown) -> Town:
    return town(REPLAY_CAP="3")


def archive_everything() -> None:
    world = bootstrap.world()
    later = VirtualTime(datetime.now(UTC) + timedelta(days=2))
    done = archive_old(runs=world.runs, archives=world.archives, clock=later, keep_for=timedelta(days=1))
    assert (done.runs, done.events > 0) == (1, True)


def test_too_far_behind_and_after_the_archive_every_way_out_tells_the_same(place: Town) -> None:
    run_id = place.submit("five")
    place.cloud.await_end(place.arn(run_id))
    whole = by_poll(place, run_id, replay="full")
    [summed_up] = by_poll(place, run_id)

    assert [event["seq"] for event in whole] == [*range(len(whole))]
    assert (summed_up["type"], summed_up["seq"]) == ("snapshot", whole[-1]["seq"])
    for way_out in WAYS_OUT:
        assert way_out(place, run_id) == [summed_up], way_out.__name__
        assert way_out(place, run_id, replay="full") == whole, way_out.__name__

    archive_everything()

    for way_out in WAYS_OUT:
        for asked in ({}, {"replay": "full"}):
            assert way_out(place, run_id, **asked) == [summed_up], way_out.__name__
