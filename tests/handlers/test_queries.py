"""The query of every door: what it does not know, and what it knows and cannot be meant, is refused by name."""

from __future__ import annotations

import re

import pytest

from chalicelib.handlers import http
from tests.builders import RUN_ID
from tests.handlers.conftest import Contents
from tests.handlers.door import Door

ROUTES = pytest.mark.parametrize("route", http.ROUTES, ids=lambda route: f"{route.method} {route.path}")


def path_of(route: http.Route) -> str:
    """A path that leads there, to nothing that there is."""
    return re.sub(r"\{(\w+)\}", lambda found: RUN_ID if found[1] == "run_id" else "x", route.path)


@ROUTES
@pytest.mark.parametrize("query", ["colour=red", "colour"])
def test_a_parameter_that_a_door_does_not_know_is_refused_and_nothing_is_done(
    route: http.Route, query: str, door: Door, contents: Contents
) -> None:
    before = contents()

    answer = door.ask(route.method, f"{path_of(route)}?{query}", None)

    known = f"one of: {', '.join(route.query)}" if route.query else "none"
    assert (answer.status, answer.code, answer.body["field"]) == (400, "unknown_field", "colour")
    assert answer.body["expected"] == known
    assert contents() == before


KNOWN = [(route, name) for route in http.ROUTES for name in route.query]


@pytest.mark.parametrize(("route", "name"), KNOWN, ids=[f"{route.method} {route.path} {name}" for route, name in KNOWN])
@pytest.mark.parametrize("value", ["", "yes", "%00", "-7"])
def test_a_value_that_cannot_be_meant_is_refused_with_what_could_be(
    route: http.Route, name: str, value: str, door: Door, contents: Contents
) -> None:
    before = contents()

    answer = door.ask(route.method, f"{path_of(route)}?{name}={value}", {"agent": "demo", "text": "go"})

    assert (answer.status, answer.body["field"]) == (400, name)
    assert answer.body["expected"]
    assert contents() == before


def test_a_door_that_cannot_stream_says_so_and_makes_no_run(door: Door, contents: Contents) -> None:
    before = contents()

    answer = door.post("/v1/runs?stream=true", {"agent": "demo", "text": "go"})

    assert (answer.code, answer.body["expected"]) == ("invalid_stream", "false; true is for the streaming edge")
    assert contents() == before
    assert door.post("/v1/runs?stream=false", {"agent": "demo", "text": "go"}).status == 202


def test_without_a_key_a_strange_parameter_is_still_no_way_in(stranger: Door) -> None:
    assert stranger.get("/v1/runs?colour=red").status == 401
