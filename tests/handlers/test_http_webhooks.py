"""Webhooks over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.run import RunWebhook
from chalicelib.core.webhook import MAX_WEBHOOKS
from chalicelib.ports.webhook_store import WebhookStore
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import Answer, Door
from tests.virtual_time import VirtualTime

URL = "https://hooks.example.com/pawl"


def _put(door: Door, name: str = "ops", **body: Any) -> Answer:
    return door.ask("PUT", f"/v1/webhooks/{name}", {"url": URL, **body})


def test_a_new_webhook_tells_its_secret_once(door: Door) -> None:
    made = _put(door, events=["run.failed"])

    assert (made.status, made.body["url"], made.body["events"]) == (201, URL, ["run.failed"])
    assert made.body["secret"].startswith("whsec_")
    for shown in (door.get("/v1/webhooks/ops").body, *door.get("/v1/webhooks").body["webhooks"], _put(door).body):
        assert "secret" not in shown


def test_putting_it_again_changes_it_and_keeps_its_secret(door: Door, world: World) -> None:
    secret = _put(door, events=["run.failed"]).body["secret"]

    again = _put(door, url="https://other.example.com/")

    events = ["approval.requested", "run.cancelled", "run.done", "run.failed"]
    assert (again.status, again.body["url"], again.body["events"]) == (200, "https://other.example.com/", events)
    kept = world.webhooks.find("acme", "ops")
    assert kept is not None
    assert kept.secret == secret


def test_another_secret_is_told_once_and_the_old_one_signs_along_for_a_day(door: Door, world: World) -> None:
    old = _put(door).body["secret"]

    rotated = door.post("/v1/webhooks/ops/secret")

    assert (rotated.status, rotated.body["old_secret_until"]) == (201, "2026-01-02T00:00:00.000Z")
    kept = world.webhooks.find("acme", "ops")
    assert kept is not None
    assert kept.secrets(world.clock.now()) == (rotated.body["secret"], old)


def test_a_deleted_webhook_is_not_found(door: Door) -> None:
    _put(door)

    assert door.delete("/v1/webhooks/ops").status == 204
    for answer in (door.delete("/v1/webhooks/ops"), door.get("/v1/webhooks/ops"), door.post("/v1/webhooks/ops/secret")):
        assert (answer.status, answer.code) == (404, "webhook_not_found")
    assert door.get("/v1/webhooks").body == {"webhooks": []}


def test_another_accounts_webhook_is_not_there(opened: OpenDoor) -> None:
    ours, theirs = opened("acme"), opened("globex")
    _put(theirs)

    assert ours.get("/v1/webhooks").body == {"webhooks": []}
    for answer in (ours.get("/v1/webhooks/ops"), ours.delete("/v1/webhooks/ops"), ours.post("/v1/webhooks/ops/secret")):
        assert answer.code == "webhook_not_found"
    assert theirs.get("/v1/webhooks/ops").status == 200


def test_who_may_not_administer_may_not_even_look(opened: OpenDoor) -> None:
    door = opened("acme", Scope.READ, Scope.RUN, Scope.APPROVE)

    assert _put(door).code == door.get("/v1/webhooks").code == door.get("/v1/webhooks/ops").code == "scope_missing"


@pytest.mark.parametrize(
    ("name", "body", "code", "field"),
    [
        ("ops", {}, "missing_field", "url"),
        ("ops", {"url": 7}, "wrong_type", "url"),
        ("ops", {"url": URL, "secret": "mine"}, "unknown_field", "secret"),
        ("ops", {"url": "http://hooks.example.com/"}, "invalid_webhook_url", "url"),
        ("ops", {"url": "https://127.0.0.1/"}, "invalid_webhook_url", "url"),
        ("ops", {"url": "http://127.0.0.1:9001/2018-06-01/runtime"}, "invalid_webhook_url", "url"),
        ("ops", {"url": URL, "events": ["text.delta"]}, "invalid_webhook_events", "events"),
        ("ops", {"url": URL, "events": []}, "invalid_webhook_events", "events"),
        ("Ops", {"url": URL}, "invalid_webhook_name", "name"),
    ],
)
def test_what_can_not_be_meant_is_refused_and_nothing_is_kept(
    name: str, body: Any, code: str, field: str, door: Door, contents: Contents
) -> None:
    before = contents()
    answer = door.ask("PUT", f"/v1/webhooks/{name}", body)

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
    assert contents() == before


def test_a_run_keeps_where_it_wants_to_be_told_of(door: Door, world: World) -> None:
    _put(door)
    wanted = {"url": "HTTPS://Mine.example.com", "signed_by": "ops"}

    submitted = door.post("/v1/runs", {"agent": "demo", "text": "go", "webhook": wanted})

    found = world.runs.tail(submitted.body["run_id"])
    assert found is not None
    assert found[0].webhook == RunWebhook("https://mine.example.com/", "ops")


@pytest.mark.parametrize(
    ("wanted", "code", "field"),
    [
        ({"url": URL}, "missing_field", "webhook.signed_by"),
        ({"url": URL, "signed_by": "ops", "events": []}, "unknown_field", "webhook.events"),
        ({"url": "http://127.0.0.1/", "signed_by": "ops"}, "invalid_webhook_url", "webhook.url"),
        ({"url": URL, "signed_by": "theirs"}, "unknown_webhook", "webhook.signed_by"),
    ],
)
def test_a_runs_webhook_that_can_not_be_meant_makes_no_run(
    wanted: Any, code: str, field: str, opened: OpenDoor, contents: Contents
) -> None:
    door = opened("acme")
    _put(door)
    _put(opened("globex"), "theirs")
    before = contents()

    answer = door.post("/v1/runs", {"agent": "demo", "text": "go", "webhook": wanted})

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
    assert contents() == before


def test_an_account_has_enough_at_some_point_and_may_still_change_what_it_has(door: Door) -> None:
    for number in range(MAX_WEBHOOKS):
        assert _put(door, f"hook-{number}").status == 201

    assert (_put(door, "one-more").status, _put(door, "one-more").code) == (409, "too_many_webhooks")
    assert _put(door, "hook-3").status == 200


@pytest.mark.parametrize("moment", ["put", "rotate"])
def test_who_comes_second_at_the_same_moment_is_told_so(
    moment: str, door: Door, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put(door)
    store: WebhookStore = world.webhooks
    monkeypatch.setattr(store, "change", lambda *_: None)
    monkeypatch.setattr(store, "rotate", lambda *_: None)

    answer = _put(door) if moment == "put" else door.post("/v1/webhooks/ops/secret")

    assert (answer.status, answer.code) == (409, "webhook_changed_meanwhile")


def test_secrets_are_unlike_each_other(door: Door, time: VirtualTime) -> None:
    secrets = {_put(door, name).body["secret"] for name in ("a", "b")} | {
        door.post("/v1/webhooks/a/secret").body["secret"]
    }

    assert len(secrets) == 3
    assert all(secret not in json.dumps(door.get("/v1/webhooks").body) for secret in secrets)
