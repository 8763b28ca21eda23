"""EventBridge: moto keeps the stack's rules, here they fire."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, cast
from uuid import uuid4

from moto.events.models import EventPattern
from moto.stepfunctions.parser.backend.execution import Execution

from chalicelib.ports.clock import Clock

Event = dict[str, Any]
Deliver = Callable[[str, Event], bool]
"""Hands an event to a rule's target, by its ARN; whether the target has dealt with it."""


class Client(Protocol):
    """boto3's `events`, as far as it is asked."""

    def list_rules(self) -> Any: ...

    def list_targets_by_rule(self, *, Rule: str) -> Any: ...  # noqa: N803


@dataclass(frozen=True)
class Rule:
    """When what is invoked: a schedule or a pattern, and the targets."""

    arn: str
    every: timedelta | None
    pattern: EventPattern | None
    targets: tuple[str, ...]


def rules(client: Client) -> list[Rule]:
    """The rules of the stack that are switched on."""
    return [_rule(client, each) for each in client.list_rules()["Rules"] if each["State"] == "ENABLED"]


def _rule(client: Client, described: dict[str, Any]) -> Rule:
    targets = client.list_targets_by_rule(Rule=described["Name"])["Targets"]
    schedule, pattern = described.get("ScheduleExpression"), described.get("EventPattern")
    return Rule(
        arn=described["Arn"],
        every=rate(schedule) if schedule else None,
        pattern=EventPattern.load(pattern) if pattern else None,
        targets=tuple(target["Arn"] for target in targets),
    )


def rate(expression: str) -> timedelta:
    """What `rate(1 minute)` says."""
    found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression)
    if found is None:
        raise ValueError(f"the local clock knows rate(n minutes|hours|days), not {expression}")
    return timedelta(**{f"{found[2]}s": int(found[1])})


def publish(event: Event, rules: Iterable[Rule], deliver: Deliver) -> bool:
    """Give the event to the targets of every rule whose pattern it matches; whether all have dealt with it."""
    matching = [rule for rule in rules if rule.pattern is not None and rule.pattern.matches_event(cast(Any, event))]
    dealt_with = [deliver(target, event) for rule in matching for target in rule.targets]
    return all(dealt_with)


def keep_time(rule: Rule, deliver: Deliver, clock: Clock, stop: threading.Event) -> None:
    """Invoke a scheduled rule's targets whenever it is due, until `stop`."""
    assert rule.every is not None
    due = clock.now() + rule.every
    while not stop.is_set():
        if (left := (due - clock.now()).total_seconds()) > 0:
            clock.sleep(left, stop)
            continue
        for target in rule.targets:
            deliver(target, scheduled(rule, due))
        due = max(due + rule.every, clock.now())


def scheduled(rule: Rule, at: datetime) -> Event:
    """What a scheduled rule sends."""
    return _event("aws.events", "Scheduled Event", at, rule.arn, {})


def described(execution: Execution) -> Event:
    """An execution as its events describe it."""
    return {
        "executionArn": execution.exec_arn,
        "stateMachineArn": execution.state_machine.arn,
        "name": execution.name,
        "status": execution.status,
        "startDate": milliseconds(execution.start_date),
        "stopDate": milliseconds(execution.stop_date) if execution.stop_date else None,
        "input": execution.execution_input,
        "inputDetails": {"included": True},
        "output": json.dumps(execution.output) if execution.status == "SUCCEEDED" else None,
        "outputDetails": {"included": True},
        "error": execution.error,
        "cause": execution.cause,
    }


def status_change(detail: Event, at: datetime) -> Event:
    """What Step Functions tells of an execution."""
    return _event("aws.states", "Step Functions Execution Status Change", at, detail["executionArn"], detail)


def milliseconds(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _event(source: str, kind: str, at: datetime, resource: str, detail: Event) -> Event:
    _, _, _, _, region, account, *_ = ("", *resource.split(":"))
    return {
        "version": "0",
        "id": str(uuid4()),
        "detail-type": kind,
        "source": source,
        "account": account,
        "time": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [resource],
        "detail": detail,
    }
