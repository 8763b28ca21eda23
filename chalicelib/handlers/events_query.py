"""What is asked of a run's log, wherever it is asked."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.handlers import http_input
from chalicelib.handlers.http_input import Request

KNOWN = ("since", "limit", "wait", "replay")
DEFAULT_LIMIT, MAX_LIMIT = 200, 1000
MAX_WAIT = 20
"""Seconds; API Gateway gives up on us after 29."""


@dataclass(frozen=True, slots=True)
class EventsQuery:
    """Events after `since`, at most `limit` of them; `wait`: seconds to hold an answer that would be empty."""

    since: int
    limit: int
    wait: int
    in_full: bool


def read(request: Request, *, sse: bool) -> EventsQuery:
    """The query; a client of Server-Sent Events may have its cursor in a header. Raises `InvalidInput`, for what an
    answer has no use for too: whoever says it means something."""
    params = http_input.params(request)
    return EventsQuery(
        since=http_input.last_event_id(request, params) if sse else http_input.since(params),
        limit=http_input.number(params, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        wait=http_input.number(params, "wait", MAX_WAIT if sse else 0, 0, MAX_WAIT),
        in_full=http_input.in_full(params),
    )
