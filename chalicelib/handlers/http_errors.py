"""Answers that are not what was asked for, as problem bodies (RFC 9457)."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import ParamSpec

from chalice.app import Request, Response

from chalicelib.core import errors
from chalicelib.handlers import problems
from chalicelib.handlers.problems import STATUS_OF

P = ParamSpec("P")

RETRY_AFTER = "1"
"""Seconds, with every 503: by then our own retries are over, and a short outage is too."""

log = logging.getLogger(__name__)


def problem(
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str | list[str]] | None = None,
    **more: str | None,
) -> Response:
    """A problem; `more` is what only some problems have. `finish` adds the request id."""
    body = problems.body(status, code, detail, **more)
    return Response(body, {**(headers or {}), "Content-Type": problems.MEDIA_TYPE}, status.value)


def answers_faults(view: Callable[P, Response]) -> Callable[P, Response]:
    """Not a middleware: Chalice makes a 500 of a view's exception before a middleware sees it."""

    @functools.wraps(view)
    def answered(*args: P.args, **kwargs: P.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except problems.TOLD_BY_CODE as fault:
            status, body = problems.of(fault)
            return Response(body, {"Content-Type": problems.MEDIA_TYPE}, status.value)
        except errors.Unavailable as fault:
            log.warning("unavailable: %s", fault, extra={"action": view.__name__})
            detail = "a part of the service does not answer; try again"
            return problem(STATUS_OF[errors.Unavailable], "unavailable", detail, headers={"Retry-After": RETRY_AFTER})

    return answered


_CHALICES_OWN = {
    "MethodNotAllowedError": (
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this path does not know the method",
    ),
    "UnsupportedMediaType": (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "send application/json"),
    "InternalServerError": (HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "something went wrong on our side"),
}
"""What Chalice answers by itself, by the code in its body. The last is a view's exception, which Chalice has logged."""


def finish(request: Request, get_response: Callable[[Request], Response]) -> Response:
    """The middleware around every HTTP answer: Chalice's own errors become problems; each answer has a request id."""
    response = get_response(request)
    if isinstance(response.body, dict) and response.body.get("Code") in _CHALICES_OWN:
        status, code, detail = _CHALICES_OWN[response.body["Code"]]
        response = problem(status, code, detail, headers=response.headers)
    request_id = _request_id(request)
    response.headers["X-Request-Id"] = request_id
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        response.body["request_id"] = request_id
    return response


def _request_id(request: Request) -> str:
    """API Gateway's id, which its logs carry; the Lambda's where the request came another way."""
    return str(request.context.get("requestId") or getattr(request.lambda_context, "aws_request_id", ""))
