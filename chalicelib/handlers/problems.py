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
    errors.PayloadMissing: HTTPStatus.INTERNAL_SERVER_ERROR,
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


TOLD_BY_CODE = (errors.Refusal, errors.PayloadMissing)
"""What a caller is told of with a code of its own: what it must mend, and what nobody can."""


def of(fault: errors.Refusal | errors.PayloadMissing) -> tuple[HTTPStatus, dict[str, Any]]:
    """Status and body for one of these."""
    status = STATUS_OF[type(fault)]
    return status, body(status, fault.code, fault.detail, field=fault.field, expected=fault.expected)
