"""What API Gateway answers by itself, before or instead of a Lambda: the same problem bodies as everywhere else."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

BODIES_AS_BYTES = {"x-amazon-apigateway-binary-media-types": ["*/*"]}
"""Each body reaches the Lambda in base64. As text, API Gateway would replace what is no UTF-8, and nobody could tell.
It stands here and not in app.py: Chalice would take it for the answers too, which stay text."""


def responses() -> dict[str, Any]:
    """The `GatewayResponses` of the AWS::Serverless::Api, by API Gateway's type of response."""
    no_such_route = _problem(HTTPStatus.NOT_FOUND, "not_found", "there is no such path")
    again = {"Retry-After": "'1'"}
    return {
        "UNAUTHORIZED": _problem(
            HTTPStatus.UNAUTHORIZED, "unauthenticated", "send an API key as: Authorization: Bearer KEY"
        ),
        # The authorizer denies a key that does not count, and says why.
        "ACCESS_DENIED": _problem(HTTPStatus.UNAUTHORIZED, "$context.authorizer.code", "$context.authorizer.detail"),
        "MISSING_AUTHENTICATION_TOKEN": no_such_route,
        # On a path that no route knows, API Gateway takes a bearer key for a bad AWS signature.
        "INVALID_SIGNATURE": no_such_route,
        "RESOURCE_NOT_FOUND": no_such_route,
        "UNSUPPORTED_MEDIA_TYPE": _problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "send application/json"
        ),
        "REQUEST_TOO_LARGE": _problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "request_too_large", "a request has at most 10 MB"
        ),
        "THROTTLED": _problem(HTTPStatus.TOO_MANY_REQUESTS, "throttled", "too many requests; try again", again),
        "AUTHORIZER_FAILURE": _problem(
            HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", "the API key could not be looked up; try again", again
        ),
        "INTEGRATION_FAILURE": _problem(
            HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", "the service does not answer; try again", again
        ),
        "INTEGRATION_TIMEOUT": _problem(
            HTTPStatus.GATEWAY_TIMEOUT, "unavailable", "the service did not answer in time; try again", again
        ),
        "DEFAULT_4XX": _problem(HTTPStatus.BAD_REQUEST, "bad_request", "the request was refused"),
        "DEFAULT_5XX": _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "something went wrong on our side"),
    }


def _problem(status: HTTPStatus, code: str, detail: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "code": code,
        "request_id": "$context.requestId",
    }
    named = {"Content-Type": "'application/problem+json'", "X-Request-Id": "context.requestId", **(headers or {})}
    return {
        "StatusCode": status.value,
        "ResponseParameters": {"Headers": named},
        "ResponseTemplates": {"application/json": json.dumps(body)},
    }
