"""Webhooks: what may be put, what is sent, and when again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook as Verifier

from chalicelib.core import webhook
from chalicelib.core.announcement import STATUS_WITH, announcement, detail, read_detail
from chalicelib.core.egress import EgressPolicy, any_public_name
from chalicelib.core.errors import InvalidInput
from chalicelib.core.events import ENDS, Event, EventType
from tests.builders import NOON, RUN_ID, a_webhook, an_announcement, an_event

WORLD = EgressPolicy(any_public_name)
LAPTOP = EgressPolicy(any_public_name, loopback=True)


def test_ends_and_questions_are_announced_and_nothing_else() -> None:
    announced = {type for type in EventType if announcement("acme", RUN_ID, _event(type)) is not None}

    assert announced == {*ENDS, EventType.APPROVAL_REQUESTED} == STATUS_WITH.keys()


def _event(type: EventType) -> Event:
    return an_event(5, type, approval_id="ap_5", name="mail", expires_at="later", args={"to": "all"}, output="secret")


@pytest.mark.parametrize("type", sorted(STATUS_WITH))
def test_what_is_told_is_thin(type: EventType) -> None:
    told = an_announcement(type)
    thin = detail(told)

    assert {*thin} - {"approval_id", "tool", "expires_at"} == {"account_id", "run_id", "seq", "type", "at", "status"}
    assert ("tool" in thin) is (type is EventType.APPROVAL_REQUESTED)
    assert "secret" not in json.dumps(thin)
    assert read_detail(json.loads(json.dumps(thin))) == told


def test_an_event_has_one_id_however_often_it_is_told() -> None:
    assert an_announcement().announcement_id == an_announcement().announcement_id == f"{RUN_ID}-5"


def test_the_library_of_standard_webhooks_verifies_what_is_sent() -> None:
    now, secret = datetime.now(UTC), webhook.secret(bytes(range(32)))
    body = webhook.payload(an_announcement())
    headers = dict(webhook.headers(an_announcement(), body, [secret], now))

    assert Verifier(secret).verify(body, headers) == json.loads(body)
    assert headers["webhook-timestamp"] == str(int(now.timestamp()))


def test_during_a_rotation_both_secrets_sign_and_after_it_only_the_new_one() -> None:
    hook = replace(a_webhook(), old_secret="whsec_b2xk", old_secret_until=NOON + timedelta(days=1))

    assert hook.secrets(NOON) == (hook.secret, "whsec_b2xk")
    assert hook.secrets(NOON + timedelta(days=1)) == (hook.secret,)
    assert a_webhook().secrets(NOON) == (hook.secret,)


def test_a_webhook_wants_its_events_until_it_is_disabled() -> None:
    hook = replace(a_webhook(), events=frozenset({EventType.RUN_FAILED}))

    assert hook.wants(EventType.RUN_FAILED)
    assert not hook.wants(EventType.RUN_DONE)
    assert not replace(hook, disabled_at=NOON).wants(EventType.RUN_FAILED)


@pytest.mark.parametrize("name", ["ops", "0", "a-b_c", "a" * 63])
def test_a_name_may_be(name: str) -> None:
    webhook.check_name(name)


@pytest.mark.parametrize("name", ["", "Ops", "-a", "a" * 64, "a/b", "a#b", "ä", "a\n"])
def test_a_name_may_not_be(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        webhook.check_name(name)

    assert (refused.value.code, refused.value.field) == ("invalid_webhook_name", "name")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.com/",
        "https://hooks.example.com:8443/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://[::1]/",
        "https://localhost/",
        "https://user:pass@hooks.example.com/",
        "ftp://hooks.example.com/",
        "hooks",
    ],
)
def test_a_url_that_would_never_be_asked_is_refused_when_it_is_put(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        webhook.check_url(url, WORLD)

    assert (refused.value.code, refused.value.field) == ("invalid_webhook_url", "url")
    assert "this machine" not in str(refused.value.expected)


def test_a_laptop_may_be_told_on_itself_without_tls_and_nobody_else_may() -> None:
    assert webhook.check_url("http://127.0.0.1:3000/hook", LAPTOP) == "http://127.0.0.1:3000/hook"
    assert webhook.check_url("HTTPS://Hooks.Example.com", LAPTOP) == "https://hooks.example.com/"
    with pytest.raises(InvalidInput):
        webhook.check_url("http://hooks.example.com/", LAPTOP)
    with pytest.raises(InvalidInput):
        webhook.check_url("http://192.168.0.1/", LAPTOP)


@pytest.mark.parametrize("names", [[], ["run.started"], ["run.done", 7], [None], [[]], [{}], ["run.done", {"a": 1}]])
def test_events_that_are_not_announced_are_refused(names: list[object]) -> None:
    with pytest.raises(InvalidInput) as refused:
        webhook.events(names)

    assert (refused.value.code, refused.value.field) == ("invalid_webhook_events", "events")


def test_without_a_word_a_webhook_is_told_everything() -> None:
    assert webhook.events(None) == STATUS_WITH.keys()
    assert webhook.events(["run.done", "run.done"]) == {EventType.RUN_DONE}


def test_pauses_grow_fit_into_what_sqs_can_hide_and_end_with_the_last_try() -> None:
    pauses = [webhook.pause_after(tries) for tries in range(1, webhook.TRIES + 1)]

    assert pauses == [*webhook.BACK_OFF, 0]
    assert sorted(webhook.BACK_OFF) == list(webhook.BACK_OFF)
    assert max(pauses) <= 12 * 3600 - 90
    assert webhook.pause_after(webhook.TRIES + 1) == 0
