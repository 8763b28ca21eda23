"""What comes over the wire: an answer's body, a problem's body, a page of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from pawl_client.errors import PawlError, Unreachable

Json = dict[str, Any]

SNAPSHOT = "snapshot"
"""The type of what comes in the place of all events up to its seq: for who is far behind, and of an archived run."""

ENDS = frozenset({"run.done", "run.failed", "run.cancelled"})
"""The types of what nothing follows: a run that has ended asks nothing any more."""

NOT_PAWL = "not_pawl"
"""The code of an answer that no Pawl server gives. Ours; the others come from the server."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a run's log."""

    seq: int
    type: str
    at: str
    data: Mapping[str, Any]

    def document(self, run_id: str) -> Json:
        """The event as a line of JSON that can stand alone, beside those of other runs."""
        return {"run_id": run_id, "seq": self.seq, "type": self.type, "at": self.at, "data": self.data}


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to one poll. `status` is None where the page was full before the run's status was reached."""

    events: tuple[Event, ...]
    next_since: int
    has_more: bool
    status: str | None
    done: bool
    next_poll_ms: int


def body_of(response: httpx.Response) -> Json:
    """The JSON object of an answer; empty for an answer without a body. Raises as `value_of` does."""
    document = {} if response.status_code == httpx.codes.NO_CONTENT else value_of(response)
    if not isinstance(document, dict):
        raise _not_pawl(response, "the answer is no JSON object")
    return document


def value_of(response: httpx.Response) -> Any:
    """The JSON of an answer. Raises `PawlError`, or `Unreachable` for an answer that was cut off."""
    if not response.is_success:
        raise _problem(response)
    if "json" not in response.headers.get("content-type", ""):
        raise _not_pawl(response, "the answer is no JSON; is this the URL of a Pawl server?")
    try:
        return response.json()
    except ValueError:
        raise Unreachable(str(response.url), "the answer was cut off") from None


def page_of(document: Json) -> Page:
    """A page of events out of an answer's body."""
    try:
        return Page(
            events=tuple(Event(int(e["seq"]), e["type"], e["at"], e["data"]) for e in document["events"]),
            next_since=int(document["next_since"]),
            has_more=bool(document["has_more"]),
            status=document.get("status"),
            done=bool(document["done"]),
            next_poll_ms=int(document["next_poll_ms"]),
        )
    except (KeyError, TypeError, ValueError) as fault:
        raise PawlError(httpx.codes.OK, NOT_PAWL, f"the answer is no page of events: {fault!r}") from None


def _problem(response: httpx.Response) -> PawlError:
    try:
        told = response.json()
    except ValueError:
        told = None
    body = told if isinstance(told, dict) else {}
    return PawlError(
        response.status_code,
        # A proxy or a gateway in front of the server answers without a code.
        body.get("code") or f"http_{response.status_code}",
        body.get("detail") or body.get("title") or body.get("message") or response.reason_phrase,
        field=body.get("field"),
        expected=body.get("expected"),
        request_id=body.get("request_id") or response.headers.get("x-request-id"),
        retry_after=_seconds(response.headers.get("retry-after")),
    )


def _not_pawl(response: httpx.Response, detail: str) -> PawlError:
    return PawlError(response.status_code, NOT_PAWL, detail)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
