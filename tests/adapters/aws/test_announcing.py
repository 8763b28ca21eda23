"""The queue of webhooks and the event bus, as AWS takes them."""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
from botocore.stub import ANY, Stubber

from chalicelib.adapters.aws.clients import client
from chalicelib.adapters.aws.event_bus import EventBridgeAnnouncer
from chalicelib.adapters.aws.webhook_queue import SqsWebhookQueue
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import EventType
from chalicelib.ports.webhook_queue import Sending, Taken
from tests.builders import NOON, RUN_ID, an_announcement

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


@pytest.fixture
def sqs(aws: None) -> SQSClient:
    return client("sqs")


def test_what_is_put_comes_out_as_it_was_however_many_there_are(sqs: SQSClient) -> None:
    url = sqs.create_queue(QueueName="webhooks")["QueueUrl"]
    queue = SqsWebhookQueue(sqs, url)
    sendings = [
        Sending(an_announcement(EventType.APPROVAL_REQUESTED, seq=seq), "ops", url)
        for seq, url in zip(range(23), cycle((None, "https://a.example/")))
    ]

    queue.put(sendings)

    found: list[Taken] = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        found += [queue.taken(_record(each)) for each in messages]
    assert sorted((each.sending for each in found), key=lambda each: each.announcement.seq) == sendings
    assert {each.tries for each in found} == {3}


def _record(message: Any) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": {"ApproximateReceiveCount": "3"},
    }


def test_one_message_that_was_not_taken_means_that_nothing_is_certain(sqs: SQSClient) -> None:
    with Stubber(sqs) as stub:
        failed = {"Id": "1", "SenderFault": False, "Code": "InternalError", "Message": "no"}
        stub.add_response(
            "send_message_batch", {"Successful": [], "Failed": [failed]}, {"QueueUrl": "url", "Entries": ANY}
        )
        with pytest.raises(Unavailable, match="1 webhooks were not queued"):
            SqsWebhookQueue(sqs, "url").put([Sending(an_announcement(), "ops")])


def test_a_queue_that_is_not_there_is_unavailable(sqs: SQSClient) -> None:
    queue = SqsWebhookQueue(sqs, "https://sqs.us-east-1.amazonaws.com/123456789012/none")

    with pytest.raises(Unavailable):
        queue.put([Sending(an_announcement(), "ops")])
    with pytest.raises(Unavailable):
        queue.put_off(Taken(Sending(an_announcement(), "ops"), 1, "m", "r"), 5)


def test_an_event_on_the_bus_says_what_where_and_when(aws: None) -> None:
    events = client("events")
    entry = {
        "EventBusName": "pawl-dev",
        "Source": "pawl",
        "DetailType": "run.done",
        "Time": NOON,
        "Resources": [f"/v1/runs/{RUN_ID}"],
        "Detail": json.dumps(
            {
                "id": f"{RUN_ID}-5",
                "account_id": "acme",
                "run_id": RUN_ID,
                "seq": 5,
                "type": "run.done",
                "at": "2026-01-01T12:00:00.000Z",
                "status": "done",
            }
        ),
    }
    with Stubber(events) as stub:
        stub.add_response("put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}, {"Entries": [entry]})
        EventBridgeAnnouncer(events, "pawl-dev").announce([an_announcement()])
        stub.assert_no_pending_responses()


def test_many_events_go_ten_at_a_time_and_one_that_failed_fails_all(aws: None) -> None:
    events = client("events")
    taken = {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}
    failed = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "no"}]}
    with Stubber(events) as stub:
        for answer in (taken, taken, failed):
            stub.add_response("put_events", answer, {"Entries": ANY})
        with pytest.raises(Unavailable, match="InternalFailure"):
            EventBridgeAnnouncer(events, "pawl-dev").announce([an_announcement(seq=seq) for seq in range(21)])
        stub.assert_no_pending_responses()
