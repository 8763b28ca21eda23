"""The stack's rules, and what fires them."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from infra.local import events
from infra.local.cloud import LocalCloud
from tests.infra.local import standin
from tests.infra.local.test_stepfunctions import MACHINE, begin, ends, hand


def test_an_execution_that_ends_in_no_good_way_is_told_of(cloud: LocalCloud) -> None:
    standin.faults.append(ValueError("no"))
    arn = begin(cloud, "end")
    event = standin.heard.get(timeout=10)
    assert (event["source"], event["detail-type"]) == ("aws.states", "Step Functions Execution Status Change")
    detail = event["detail"]
    assert detail["executionArn"] == arn == event["resources"][0]
    assert detail["stateMachineArn"] == MACHINE
    assert detail["name"] == arn.rpartition(":")[2]
    assert (detail["status"], detail["error"]) == ("FAILED", "ValueError")
    assert json.loads(detail["input"]) == {"script": ["end"]}
    assert detail["startDate"] <= detail["stopDate"]


def test_an_aborted_execution_is_told_of(cloud: LocalCloud) -> None:
    arn = begin(cloud, "wait 3600")
    hand(cloud).await_sleeper(3600)
    cloud.client("stepfunctions").stop_execution(executionArn=arn)
    assert standin.heard.get(timeout=10)["detail"]["status"] == "ABORTED"


def test_a_status_that_the_pattern_does_not_name_is_not_told_of(cloud: LocalCloud) -> None:
    assert ends(cloud, begin(cloud, "end")) == "SUCCEEDED"
    standin.faults.append(ValueError("no"))
    failed = begin(cloud, "end")
    assert standin.heard.get(timeout=10)["detail"]["executionArn"] == failed
    assert standin.heard.empty()


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("rate(1 minute)", timedelta(minutes=1)),
        ("rate(2 hours)", timedelta(hours=2)),
        ("rate(1 day)", timedelta(days=1)),
    ],
)
def test_a_rate_is_understood(expression: str, meant: timedelta) -> None:
    assert events.rate(expression) == meant


def test_a_schedule_of_another_kind_is_refused_rather_than_never_fired() -> None:
    with pytest.raises(ValueError, match="cron"):
        events.rate("cron(0 12 * * ? *)")
