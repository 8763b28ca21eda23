"""What is told without being asked, as resources: the queue of webhooks, what becomes of the hopeless, and the bus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chalicelib.core.announcement import STATUS_WITH
from chalicelib.core.webhook import TRIES
from infra import stream

ANNOUNCED = stream.event_written({"type": {"S": sorted(STATUS_WITH)}})

RETRIES, OLDEST = 1_000, 6 * 3600
"""A record that is given up here is news that nobody gets: it is tried for as long as the ones behind it can wait."""

TWO_WEEKS = 14 * 24 * 3600
"""The longest that SQS keeps a message, counted from when it was first sent, as a dead letter too."""

BATCH = 4
CONCURRENCY = 10
"""Receivers that are slow at the same time hold up so many batches and no more Lambdas."""

BUS = {"Fn::Sub": "pawl-${Stage}"}
"""By its fixed name: moto knows no reference to one."""

_CONFIG = Path(__file__).resolve().parent.parent / ".chalice" / "config.json"


def resources() -> dict[str, Any]:
    """Queues and bus."""
    dead = {"deadLetterTargetArn": {"Fn::GetAtt": ["WebhookDeadLetters", "Arn"]}, "maxReceiveCount": TRIES}
    return {
        "WebhookQueue": _queue(VisibilityTimeout=6 * _longest_sending(), RedrivePolicy=dead),
        "WebhookDeadLetters": _queue(),
        "LostAnnouncements": _queue(),
        "EventBus": {"Type": "AWS::Events::EventBus", "Properties": {"Name": BUS}},
    }


def environment() -> dict[str, Any]:
    """Where functions find them."""
    return {"PAWL_EVENT_BUS": BUS, "PAWL_WEBHOOK_QUEUE_URL": {"Ref": "WebhookQueue"}}


def outputs() -> dict[str, Any]:
    """Where people find them."""
    return {
        "EventBus": {"Value": BUS},
        "WebhookDeadLetters": {"Value": {"Ref": "WebhookDeadLetters"}},
        "LostAnnouncements": {"Value": {"Ref": "LostAnnouncements"}},
    }


def woken_by_the_stream() -> dict[str, Any]:
    """The event of the function that announces; for SAM."""
    woken = stream.consumer(ANNOUNCED, retries=RETRIES, oldest=OLDEST)
    lost = {"OnFailure": {"Type": "SQS", "Destination": {"Fn::GetAtt": ["LostAnnouncements", "Arn"]}}}
    return {**woken, "Properties": {**woken["Properties"], "DestinationConfig": lost}}


def woken_by_the_queue() -> dict[str, Any]:
    """The event of the function that sends; for SAM."""
    return {
        "Type": "SQS",
        "Properties": {
            "Queue": {"Fn::GetAtt": ["WebhookQueue", "Arn"]},
            "BatchSize": BATCH,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "ScalingConfig": {"MaximumConcurrency": CONCURRENCY},
        },
    }


def _queue(**more: Any) -> dict[str, Any]:
    kept = {"MessageRetentionPeriod": TWO_WEEKS, "SqsManagedSseEnabled": True}
    return {"Type": "AWS::SQS::Queue", "Properties": {**kept, **more}}


def _longest_sending() -> int:
    """Seconds that the function has; the queue hides a message for six times that, as Lambda recommends."""
    functions = json.loads(_CONFIG.read_text())["lambda_functions"]
    return int(functions["send_webhook"]["lambda_timeout"])
