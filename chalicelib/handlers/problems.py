"""Problem bodies (RFC 9457), and the one table of faults and HTTP statuses."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from chalicelib.core import errors

MEDIA_TYPE = "application/problem+json"

STATUS_OF: Mapping[type[errors.Fault], HTTPStatus] = {
    errors.InvalidInput: HTTPStatus.BAD_REQUEST,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.KeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}


def body(status: HTTPStatus, code: str, detail: str, **more: str | None) -> dict[str, Any]:
    """A problem body; `more` is what only some problems have."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "code": code,
        **{name: value for name, value in more.items() if value is not None},
    }


def of(refusal: errors.Refusal) -> tuple[HTTPStatus, dict[str, Any]]:
    """Status and body for what the caller must mend."""
    status = STATUS_OF[type(refusal)]
    return status, body(status, refusal.code, refusal.detail, field=refusal.field, expected=refusal.expected)
