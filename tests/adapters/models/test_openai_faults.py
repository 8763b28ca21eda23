"""What a provider's errors mean, as they come over a real connection."""

from __future__ import annotations

import json

import pytest

from chalicelib.adapters.models.openai_faults import LONGEST_MESSAGE
from chalicelib.core.errors import ModelRefused, ModelUnavailable
from tests.adapters.models.a_call import KEY, fault_of
from tests.adapters.models.provider import (
    DONE,
    HELLO,
    JSON,
    Answer,
    Serve,
    event,
    stream,
)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_these_statuses_are_worth_another_try(serve: Serve, status: int) -> None:
    assert isinstance(fault_of(serve(Answer((b"{}",), status, JSON))), ModelUnavailable)


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413, 422])
def test_these_statuses_are_refusals(serve: Serve, status: int) -> None:
    assert isinstance(fault_of(serve(Answer((b"{}",), status, JSON))), ModelRefused)


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("20", 20.0),
        ("0.5", 0.5),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("-1", None),
        ("nan", None),
        ("9" * 400, None),
    ],
)
def test_retry_after_counts_when_it_is_in_seconds(serve: Serve, said: str, waits: float | None) -> None:
    fault = fault_of(serve(Answer((b"{}",), 429, {**JSON, "Retry-After": said})))

    assert isinstance(fault, ModelUnavailable)
    assert fault.retry_after == waits


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b'{"error": {"message": "The model `x` does not exist", "type": "invalid_request_error"}}', "does not exist"),
        (b'{"error": "no such model"}', "no such model"),
        (b'{"detail": "not   found"}', "not found"),
        (b"<h1>Not Found</h1>", "<h1>Not Found</h1>"),
        (b"", "nothing more"),
        (b"[" * 60_000, "[[["),
    ],
)
def test_a_refusal_says_what_the_provider_said(serve: Serve, content: bytes, shown: str) -> None:
    fault = str(fault_of(serve(Answer((content,) if content else (), 404, JSON))))

    assert "404" in fault
    assert shown in fault
    assert len(fault) < LONGEST_MESSAGE + 100


def test_a_refusal_never_shows_the_key(serve: Serve) -> None:
    content = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}).encode()

    fault = str(fault_of(serve(Answer((content,), 401, JSON))))

    assert KEY not in fault
    assert "Incorrect API key provided: ***." in fault


@pytest.mark.parametrize(
    "error",
    [
        {"message": "overloaded", "code": 503},
        {"message": "overloaded", "code": "429"},
        {"message": "overloaded", "type": "server_error", "code": None},
        {"message": "overloaded", "type": "rate_limit_exceeded"},
        "overloaded",
    ],
)
def test_an_error_in_the_stream_is_worth_another_try(serve: Serve, error: object) -> None:
    fault = fault_of(serve(stream(*HELLO, event({"error": error}), DONE)))

    assert isinstance(fault, ModelUnavailable)
    assert "overloaded" in str(fault)


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too long", "code": 400},
        {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"},
        {"message": "too long", "type": "authentication_error"},
    ],
)
def test_an_error_in_the_stream_may_be_a_refusal_by_its_code(serve: Serve, error: object) -> None:
    assert isinstance(fault_of(serve(stream(event({"error": error}), DONE))), ModelRefused)
