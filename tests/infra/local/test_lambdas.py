"""Functions by their handler strings, invoked through moto as AWS invokes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.local.cloud import LocalCloud
from tests.infra.local import standin


def invoke(cloud: LocalCloud, name: str, event: Any, **more: Any) -> Any:
    return cloud.client("lambda").invoke(FunctionName=name, Payload=json.dumps(event), **more)


def test_a_function_is_told_what_lambda_tells(cloud: LocalCloud) -> None:
    answer = invoke(cloud, "standin-show", {"n": 1})
    told = json.load(answer["Payload"])
    assert "FunctionError" not in answer
    assert told["event"] == {"n": 1}
    assert told["name"] == "standin-show"
    assert told["arn"] == "arn:aws:lambda:us-east-1:123456789012:function:standin-show"
    assert told["memory"] == 256
    assert told["left"] == 60_000
    assert len(told["id"]) == 36
    assert told["table"] in cloud.client("dynamodb").list_tables()["TableNames"]


def test_a_fault_is_an_unhandled_one_with_its_type_and_message(cloud: LocalCloud) -> None:
    standin.faults.append(ValueError("no"))
    answer = invoke(cloud, "standin-work", {"script": ["end"]})
    assert answer["FunctionError"] == "Unhandled"
    told = json.load(answer["Payload"])
    assert (told["errorType"], told["errorMessage"]) == ("ValueError", "no")
    assert any("in work" in line for line in told["stackTrace"])


def test_an_answer_that_is_no_json_is_a_fault(cloud: LocalCloud) -> None:
    outcome = cloud.invoke("show", {"script": float("nan")})
    assert not outcome.failed
    assert cloud.invoke("work", {"script": []}).failed


def test_an_unknown_function_is_unknown(cloud: LocalCloud) -> None:
    client = cloud.client("lambda")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.invoke(FunctionName="nobody")


def test_an_event_invocation_does_not_wait(cloud: LocalCloud) -> None:
    answer = invoke(cloud, "standin-tell", {"n": 2}, InvocationType="Event")
    assert answer["StatusCode"] == 202
    assert standin.heard.get(timeout=10) == {"n": 2}
