"""What API Gateway answers by itself looks like every other problem."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from chalice.app import AuthRequest

from chalicelib.handlers import authorizer
from infra import gateway


@pytest.mark.parametrize(("kind", "answer"), [*gateway.responses().items()])
def test_an_answer_of_the_gateway_is_a_problem_with_a_code_and_a_request_id(kind: str, answer: dict[str, Any]) -> None:
    headers = answer["ResponseParameters"]["Headers"]
    body = json.loads(answer["ResponseTemplates"]["application/json"])

    assert headers["Content-Type"] == "'application/problem+json'"
    assert headers["X-Request-Id"] == "context.requestId"
    assert body.keys() == {"type", "title", "status", "detail", "code", "request_id"}
    assert body["status"] == answer["StatusCode"]


def test_an_unknown_path_is_not_found_with_a_key_and_without_one() -> None:
    answers = gateway.responses()

    for kind in ("MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE"):
        assert answers[kind]["StatusCode"] == 404


def test_a_key_that_does_not_count_is_told_why_by_the_authorizer() -> None:
    denied = authorizer.Denial([], "nobody", {"code": "key_revoked", "detail": "revoked"})
    told = denied.to_dict(AuthRequest("TOKEN", "Bearer x", "arn:aws:execute-api:eu-west-1:1:api/api/GET/v1/runs"))
    template = gateway.responses()["ACCESS_DENIED"]["ResponseTemplates"]["application/json"]

    named = set(re.findall(r"\$context\.authorizer\.(\w+)", template))
    assert named == told["context"].keys()
