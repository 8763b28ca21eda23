"""Webhooks in the table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.adapters.dynamodb.webhook_store import DynamoWebhookStore
from chalicelib.core.events import EventType
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, a_webhook
from tests.virtual_time import CountedChance, VirtualTime

LATER = NOON + timedelta(days=1)
FAILURES = frozenset({EventType.RUN_FAILED})
ELSEWHERE = "https://other.example.com/"


@pytest.fixture
def webhooks(line: BadLine, table: str) -> DynamoWebhookStore:
    return DynamoWebhookStore(line.as_client, table, clock=VirtualTime(), chance=CountedChance())


def test_a_webhook_is_found_as_it_was_kept_by_its_account_only(webhooks: DynamoWebhookStore) -> None:
    assert webhooks.add(a_webhook())

    assert webhooks.find("acme", "ops") == a_webhook()
    assert webhooks.find("globex", "ops") is None
    assert webhooks.find("acme", "op") is None


def test_an_account_sees_its_own_webhooks_by_name(webhooks: DynamoWebhookStore) -> None:
    for hook in (a_webhook(name="b"), a_webhook(name="a"), a_webhook(account_id="globex")):
        webhooks.add(hook)

    assert webhooks.of_account("acme") == [a_webhook(name="a"), a_webhook(name="b")]


def test_a_second_one_of_that_name_changes_nothing(webhooks: DynamoWebhookStore) -> None:
    webhooks.add(a_webhook())

    assert not webhooks.add(a_webhook(secret="whsec_other", url=ELSEWHERE))
    assert webhooks.find("acme", "ops") == a_webhook()


def test_a_change_enables_and_leaves_the_secrets(webhooks: DynamoWebhookStore) -> None:
    webhooks.add(a_webhook())
    webhooks.rotate(a_webhook(), "whsec_new", LATER)
    webhooks.disable(a_webhook(), NOON)

    changed = webhooks.change("acme", "ops", ELSEWHERE, FAILURES)

    rotated = a_webhook(secret="whsec_new", old_secret=a_webhook().secret, old_secret_until=LATER)
    assert changed == webhooks.find("acme", "ops") == replace(rotated, url=ELSEWHERE, events=FAILURES)


def test_what_is_not_there_is_not_changed_into_being(webhooks: DynamoWebhookStore) -> None:
    assert webhooks.change("acme", "ops", ELSEWHERE, FAILURES) is None
    assert webhooks.rotate(a_webhook(), "whsec_new", LATER) is None
    webhooks.disable(a_webhook(), NOON)

    assert webhooks.of_account("acme") == []


def test_of_two_rotations_from_one_secret_one_wins(webhooks: DynamoWebhookStore) -> None:
    webhooks.add(a_webhook())

    assert webhooks.rotate(a_webhook(), "whsec_first", LATER) is not None
    assert webhooks.rotate(a_webhook(), "whsec_second", LATER) is None
    assert webhooks.find("acme", "ops") == a_webhook(
        secret="whsec_first", old_secret=a_webhook().secret, old_secret_until=LATER
    )


def test_only_the_url_that_answered_is_disabled_and_the_first_time_stands(webhooks: DynamoWebhookStore) -> None:
    webhooks.add(a_webhook())
    webhooks.disable(a_webhook(url=ELSEWHERE), NOON)
    assert webhooks.find("acme", "ops") == a_webhook()

    webhooks.disable(a_webhook(), NOON)
    webhooks.disable(a_webhook(), LATER)
    assert webhooks.find("acme", "ops") == a_webhook(disabled_at=NOON)


def test_a_deleted_webhook_is_gone(webhooks: DynamoWebhookStore) -> None:
    webhooks.add(a_webhook())
    webhooks.delete("acme", "ops")
    webhooks.delete("acme", "ops")

    assert webhooks.find("acme", "ops") is None


def test_writes_whose_answers_were_lost_are_known_again(webhooks: DynamoWebhookStore, line: BadLine) -> None:
    line.meets(answer_lost())
    assert webhooks.add(a_webhook())

    line.meets(answer_lost())
    rotated = webhooks.rotate(a_webhook(), "whsec_new", LATER)

    assert rotated == webhooks.find("acme", "ops")
    assert rotated is not None
    assert rotated.secret == "whsec_new"
