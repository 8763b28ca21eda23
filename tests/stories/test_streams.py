"""A real run, followed on one connection through the gateway of the laptop."""

from __future__ import annotations

import json
from typing import Any

import pytest
from httpx_sse import EventSource, connect_sse

from tests.builders import run_id
from tests.stories.conftest import OpenTown, Town


def followed(place: Town, path: str, **headers: str) -> list[dict[str, Any]]:
    accept = {"Accept": "text/event-stream", **headers}
    with connect_sse(place.http, "GET", path, headers=accept) as source:
        return [json.loads(event.data) for event in source.iter_sse()]


@pytest.mark.parametrize("url", ["stream", "events"])
def test_a_run_is_followed_on_one_connection_from_its_first_event_to_its_last(url: str, town: OpenTown) -> None:
    place = town()
    run_id = place.submit("brief")

    seen = followed(place, f"/v1/runs/{run_id}/{url}")

    assert seen == place.poll(run_id)["events"]
    assert (seen[0]["type"], seen[-1]["type"]) == ("run.accepted", "run.done")
    again = place.http.get(
        f"/v1/runs/{run_id}/{url}", headers={"Accept": "text/event-stream", "Last-Event-ID": str(seen[-1]["seq"])}
    )
    assert again.status_code == 204


def test_a_run_is_submitted_and_followed_in_one_request(town: OpenTown) -> None:
    place = town()
    task = {"agent": "brief", "text": "go"}

    with place.http.stream("POST", "/v1/runs", params={"stream": "true"}, json=task) as answer:
        seen = [event.json()["seq"] for event in EventSource(answer).iter_sse()]

    run_id = answer.headers["Location"].removeprefix("/v1/runs/")
    assert seen == [event["seq"] for event in place.poll(run_id)["events"]]


STRANGE = [
    ("POST", "/v1/runs?stream=yes", "invalid_stream", "stream"),
    ("POST", "/v1/runs?stream=true&colour=red", "unknown_field", "colour"),
    ("POST", "/v1/runs?colour", "unknown_field", "colour"),
    ("GET", f"/v1/runs/{run_id(7)}/stream?colour=red", "unknown_field", "colour"),
    ("GET", "/healthz?colour=red", "unknown_field", "colour"),
]


def test_what_a_query_says_wrongly_is_refused_alike_whatever_part_of_the_gateway_answers(town: OpenTown) -> None:
    place = town()

    for method, path, code, field in STRANGE:
        answer = place.http.request(method, path, json={"agent": "brief", "text": "go"})
        told = answer.json()
        assert (answer.status_code, told["code"], told["field"]) == (400, code, field), path
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert place.http.get("/v1/runs").json()["runs"] == []


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/runs?stream=true"])
def test_a_body_that_is_no_utf_8_is_refused_and_not_mended_in_silence(path: str, town: OpenTown) -> None:
    place = town()
    latin = '{"agent": "brief", "text": "café"}'.encode("latin-1")

    answer = place.http.post(path, content=latin, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")
    assert answer.json()["expected"] == "a JSON object in UTF-8"
    assert place.http.get("/v1/runs").json()["runs"] == []


def test_without_a_request_for_a_stream_the_events_come_as_json(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("brief")

    assert place.http.get(f"/v1/runs/{run_id}/events").headers["Content-Type"] == "application/json"
