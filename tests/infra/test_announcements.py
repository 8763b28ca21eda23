"""What is told without being asked, as it is packaged: which records wake it, and what becomes of what fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from moto.events.models import EventPattern

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core import webhook
from chalicelib.core.announcement import STATUS_WITH
from chalicelib.core.events import EventType
from infra import announcements
from infra.build import Built
from infra.package import ROOT
from infra.stream import OLDEST
from tests.builders import a_run, an_event


def _mapping(built: Built, function: str) -> dict[str, Any]:
    [found] = [
        each["Properties"]
        for each in built.transformed["Resources"].values()
        if each["Type"] == "AWS::Lambda::EventSourceMapping" and each["Properties"]["FunctionName"] == {"Ref": function}
    ]
    return dict(found)


@pytest.mark.parametrize("type", sorted(set(EventType) - {EventType.SNAPSHOT}))
def test_only_what_is_announced_wakes_the_one_who_announces(type: EventType) -> None:
    event = an_event(1, type)
    item = items.event_item(a_run(), event, items.data_text(event.data))
    keyed = {each: item[each] for each in (keys.PK, keys.SK)}
    record: Any = {"eventName": "INSERT", "dynamodb": {"Keys": keyed, "NewImage": item}}

    assert EventPattern.load(announcements.ANNOUNCED).matches_event(record) is (type in STATUS_WITH)


def test_a_record_is_tried_for_hours_and_then_kept_where_one_can_see_it(built: Built) -> None:
    mapping = _mapping(built, "Announce")

    assert mapping["MaximumRecordAgeInSeconds"] == announcements.OLDEST > OLDEST
    assert mapping["MaximumRetryAttempts"] == announcements.RETRIES
    lost = {"Destination": {"Fn::GetAtt": ["LostAnnouncements", "Arn"]}}
    assert mapping["DestinationConfig"]["OnFailure"] == lost


def test_each_message_of_a_batch_is_settled_by_itself(built: Built) -> None:
    mapping = _mapping(built, "SendWebhook")

    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["WebhookQueue", "Arn"]}


def test_the_queue_gives_a_webhook_out_as_often_as_the_schedule_has_tries(built: Built) -> None:
    queue = built.transformed["Resources"]["WebhookQueue"]["Properties"]

    assert queue["RedrivePolicy"]["maxReceiveCount"] == webhook.TRIES
    assert queue["RedrivePolicy"]["deadLetterTargetArn"] == {"Fn::GetAtt": ["WebhookDeadLetters", "Arn"]}


def test_a_batch_of_the_slowest_receivers_fits_into_the_function_and_the_function_into_the_queue(built: Built) -> None:
    function = built.transformed["Resources"]["SendWebhook"]["Properties"]["Timeout"]
    queue = built.transformed["Resources"]["WebhookQueue"]["Properties"]

    assert function >= announcements.BATCH * webhook.TIMEOUT + 15
    assert queue["VisibilityTimeout"] == 6 * function


def test_a_dead_letter_is_kept_for_a_week_after_its_last_try(built: Built) -> None:
    letters = built.transformed["Resources"]["WebhookDeadLetters"]["Properties"]

    assert letters["MessageRetentionPeriod"] - sum(webhook.BACK_OFF) > 7 * 24 * 3600


@pytest.mark.parametrize("name", ["WebhookQueue", "WebhookDeadLetters", "LostAnnouncements"])
def test_queues_are_encrypted(name: str, built: Built) -> None:
    assert built.transformed["Resources"][name]["Properties"]["SqsManagedSseEnabled"] is True


def test_nobody_but_the_one_who_sends_may_take_from_the_queue() -> None:
    policies = {path.stem: json.loads(path.read_text()) for path in (ROOT / ".chalice" / "policies").iterdir()}
    takers = {name for name, policy in policies.items() if "sqs:ReceiveMessage" in json.dumps(policy)}

    assert takers == {"send_webhook"}
