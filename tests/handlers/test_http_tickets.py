"""Tickets by the door of the API."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.bootstrap import World
from chalicelib.core import ticket
from chalicelib.core.api_key import Scope
from tests.builders import run_id
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Door


def _submitted(door: Door) -> str:
    return str(door.post("/v1/runs", {"agent": "demo", "text": "go"}).body["run_id"])


def test_a_ticket_is_for_five_minutes_and_the_run_that_was_named(door: Door, world: World) -> None:
    run = _submitted(door)
    answer = door.post("/v1/tickets", {"run_id": run})

    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.body["expires_in"] == 300
    assert answer.body["run_id"] == run
    read = ticket.verify(answer.body["ticket"], world.ticket_secret, world.clock.now())
    assert (read.account_id, read.run_id) == ("acme", run)
    assert read.expires_at == world.clock.now() + timedelta(minutes=5)


def test_a_ticket_carries_of_a_key_no_more_than_to_watch_and_to_cancel(opened: OpenDoor, world: World) -> None:
    for scopes in ((Scope.READ,), (Scope.READ, Scope.RUN), tuple(Scope)):
        sent = opened("acme", *scopes).post("/v1/tickets").body["ticket"]
        read = ticket.verify(sent, world.ticket_secret, world.clock.now())
        assert read.scopes == set(scopes) & {Scope.READ, Scope.RUN}
        assert read.run_id is None


def test_a_key_that_may_not_read_gets_no_ticket(opened: OpenDoor) -> None:
    assert opened("acme", Scope.RUN).post("/v1/tickets").status == 403


def test_there_is_no_ticket_for_a_run_that_is_not_the_account_s(opened: OpenDoor, door: Door) -> None:
    theirs = _submitted(opened("globex"))
    for unknown in (theirs, run_id(7)):
        answer = door.post("/v1/tickets", {"run_id": unknown})
        assert (answer.status, answer.code) == (404, "run_not_found")


def test_what_is_no_run_id_and_a_field_that_is_not_known_are_refused_by_name(door: Door) -> None:
    assert door.post("/v1/tickets", {"run_id": "7"}).code == "invalid_run_id"
    assert door.post("/v1/tickets", {"run": "7"}).body["field"] == "run"


def test_without_a_secret_to_sign_with_there_are_no_tickets(door: Door, world: World) -> None:
    world.config = type(world.config)(table="table", bucket="payloads", state_machine_arn="arn")

    assert door.post("/v1/tickets").status == 503
