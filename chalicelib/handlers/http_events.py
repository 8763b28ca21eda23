"""The one read of a run's log, as a page of JSON or as Server-Sent Events."""

from __future__ import annotations

import logging

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core import cursor, sse
from chalicelib.core.cursor import Answer
from chalicelib.core.errors import Unavailable
from chalicelib.handlers import events_query, http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.handlers.events_query import EventsQuery
from chalicelib.usecases.read_events import read_events

log = logging.getLogger(__name__)


def get_events(request: Request, caller: Caller, run_id: str) -> Response:
    streams = http_input.accepts(request.headers.get("accept", ""), sse.MEDIA_TYPE)
    asked = events_query.read(request, sse=streams)
    if not streams:
        return Response(http_shapes.answer(_read(run_id, asked, caller)))
    try:
        return _window(_read(run_id, asked, caller))
    except Unavailable:
        log.warning("unavailable", exc_info=True, extra={"action": "get_events", "run_id": run_id})
        return Response(sse.trouble(), {**sse.HEADERS})


def _read(run_id: str, asked: EventsQuery, caller: Caller) -> Answer:
    world = bootstrap.world()
    return read_events(
        http_input.run_id(run_id),
        since=asked.since,
        limit=asked.limit,
        wait=asked.wait,
        account_id=caller.account_id,
        runs=world.runs,
        clock=world.clock,
        replay_cap=None if asked.in_full else world.config.replay_cap,
    )


def _window(found: Answer) -> Response:
    """A stream that ends at once: the client reconnects with its cursor. After a 204 it never does."""
    if found.done and not found.events:
        return Response("", {}, 204)
    frames = "".join(sse.frame(http_shapes.event(one)) for one in found.events)
    # Never 0: a client keeps it for the day on which nobody answers.
    body = sse.with_retry(frames, max(found.next_poll_ms, cursor.SOON)) if frames else sse.HEARTBEAT
    return Response(body, {**sse.HEADERS})
