"""What the edge answers when it is not a stream."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from chalicelib.core import sse
from chalicelib.core.errors import Unavailable
from chalicelib.handlers import problems

Endpoint = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


def answered(endpoint: Endpoint) -> Endpoint:
    """The endpoint's answer, or what became of it. Trouble is a stream too: a 5xx ends an EventSource for good."""

    async def answer(request: Request) -> Response:
        try:
            return _named(await endpoint(request))
        except problems.TOLD_BY_CODE as fault:
            return _problem(*problems.of(fault))
        except Unavailable as fault:
            log.warning("unavailable: %s", fault, extra={"action": "stream"})
            return _named(Response(sse.trouble(), headers=sse.HEADERS))

    return answer


def not_here() -> Response:
    """For every request that asks for no stream."""
    detail = "there is no such path here; streams are all that the edge has"
    return _problem(HTTPStatus.NOT_FOUND, problems.body(HTTPStatus.NOT_FOUND, "not_found", detail))


def health() -> Response:
    return JSONResponse({"status": "ok"})


def _problem(status: HTTPStatus, body: dict[str, Any]) -> Response:
    request_id = _request_id()
    named = JSONResponse({**body, "request_id": request_id}, status, media_type=problems.MEDIA_TYPE)
    named.headers["X-Request-Id"] = request_id
    return named


def _named(response: Response) -> Response:
    response.headers["X-Request-Id"] = _request_id()
    return response


def _request_id() -> str:
    return os.urandom(16).hex()
