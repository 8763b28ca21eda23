"""SQS and the functions behind it, by the local clock."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from infra.local.clock import HandClock
from infra.local.cloud import LocalCloud
from tests.infra.local import standin
from tests.infra.local.conftest import BringUp
from tests.patience import await_true

QUEUES: dict[str, Any] = {
    "Dead": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "dead"}},
    "Queue": {
        "Type": "AWS::SQS::Queue",
        "Properties": {
            "QueueName": "queue",
            "VisibilityTimeout": 60,
            "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 2},
        },
    },
    "Mapping": {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "FunctionName": {"Ref": "Settle"},
            "EventSourceArn": {"Fn::GetAtt": ["Queue", "Arn"]},
            "BatchSize": 1,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
        },
    },
}


class Place:
    """The stand-in stack with a queue whose function is `settle`."""

    def __init__(self, bring_up: BringUp) -> None:
        self.clock = HandClock()
        function = standin.function("settle")
        self.cloud: LocalCloud = bring_up(template=standin.template(**QUEUES, Settle=function), clock=self.clock)
        self.sqs = self.cloud.client("sqs")

    def send(self, *bodies: str) -> None:
        for body in bodies:
            self.sqs.send_message(QueueUrl=self._url("queue"), MessageBody=body)

    def count(self, queue: str) -> int:
        wanted = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.sqs.get_queue_attributes(QueueUrl=self._url(queue), AttributeNames=wanted)
        return sum(int(each) for each in answer["Attributes"].values())

    def put_off(self, record: dict[str, Any], seconds: int) -> None:
        self.sqs.change_message_visibility(
            QueueUrl=self._url("queue"), ReceiptHandle=record["receiptHandle"], VisibilityTimeout=seconds
        )

    def _url(self, name: str) -> str:
        return str(self.sqs.get_queue_url(QueueName=name)["QueueUrl"])


@pytest.fixture
def place(bring_up: BringUp) -> Place:
    return Place(bring_up)


def _heard() -> dict[str, Any]:
    [record] = standin.heard.get(timeout=10)["Records"]
    return dict(record)


def test_a_message_reaches_its_function_outside_the_sending_and_is_gone_when_it_is_settled(place: Place) -> None:
    place.send("hello")

    assert _heard()["body"] == "hello"
    await_true(lambda: place.count("queue") == 0, 10)
    assert place.count("dead") == 0


def test_the_sender_does_not_wait_for_the_function(place: Place) -> None:
    standin.holding.set()
    place.send("first", "second")
    standin.going_on.set()

    assert {_heard()["body"], _heard()["body"]} == {"first", "second"}


def test_what_fails_comes_again_when_it_is_no_longer_hidden_and_says_how_often(place: Place) -> None:
    standin.faults.append(RuntimeError("no"))
    place.send("hello")
    first = _heard()
    place.clock.await_sleeper(60)
    place.clock.turn(60)
    second = _heard()

    assert [each["attributes"]["ApproximateReceiveCount"] for each in (first, second)] == ["1", "2"]
    assert first["messageId"] == second["messageId"]
    await_true(lambda: place.count("queue") == 0, 10)


def test_what_its_function_names_as_failed_comes_again_too(place: Place) -> None:
    standin.unsettled.append("hello")
    place.send("hello")
    _heard()
    place.clock.await_sleeper(60)
    place.clock.turn(60)

    assert _heard()["body"] == "hello"


def test_a_message_can_be_put_off_for_long_however_old_it_is(place: Place) -> None:
    standin.unsettled.append("hello")
    place.send("hello")
    record = _heard()
    place.clock.await_sleeper(60)
    place.put_off(record, 40_000)
    place.clock.turn(60)
    place.clock.await_sleeper(39_940)
    place.clock.turn(39_940)
    second = _heard()

    assert second["attributes"]["ApproximateReceiveCount"] == "2"


def test_what_fails_too_often_becomes_a_dead_letter(place: Place) -> None:
    standin.faults += [RuntimeError("no"), RuntimeError("no")]
    place.send("hello")
    for _ in range(2):
        _heard()
        place.clock.await_sleeper(60)
        place.clock.turn(60)

    await_true(lambda: place.count("dead") == 1, 10)
    assert place.count("queue") == 0


def test_nothing_that_is_put_in_while_others_are_settled_is_lost(place: Place) -> None:
    senders = [threading.Thread(target=place.send, args=[f"{n}-{i}" for i in range(25)]) for n in range(4)]
    for sender in senders:
        sender.start()
    heard = {_heard()["body"] for _ in range(100)}
    for sender in senders:
        sender.join()

    assert len(heard) == 100
    await_true(lambda: place.count("queue") == 0, 10)
