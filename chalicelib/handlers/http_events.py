"""The one read of a run's log, as a page of JSON or as Server-Sent Events."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core import cursor, sse
from chalicelib.core.cursor import Answer
from chalicelib.core.errors import Unavailable
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.read_events import read_events

DEFAULT_LIMIT, MAX_LIMIT = 200, 1000
MAX_WAIT = 20
"""Seconds; API Gateway gives up on us after 29."""


log = logging.getLogger(__name__)


def get_events(request: Request, caller: Caller, run_id: str) -> Response:
    params = http_input.query(request, "since", "limit", "wait", "replay")
    if not http_input.accepts(request.headers.get("accept", ""), sse.MEDIA_TYPE):
        found = _read(run_id, http_input.since(params), params, caller, default_wait=0)
        return Response(http_shapes.answer(found))
    since = http_input.last_event_id(request, params)
    try:
        return _window(_read(run_id, since, params, caller, default_wait=MAX_WAIT))
    except Unavailable:
        log.warning("unavailable", exc_info=True, extra={"action": "get_events", "run_id": run_id})
        return Response(sse.trouble(), {**sse.HEADERS})


def _read(run_id: str, since: int, params: Mapping[str, str], caller: Caller, *, default_wait: int) -> Answer:
    world = bootstrap.world()
    return read_events(
        http_input.run_id(run_id),
        since=since,
        limit=http_input.number(params, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        wait=http_input.number(params, "wait", default_wait, 0, MAX_WAIT),
        account_id=caller.account_id,
        runs=world.runs,
        clock=world.clock,
        replay_cap=None if http_input.in_full(params) else world.config.replay_cap,
    )


def _window(found: Answer) -> Response:
    """A stream that ends at once: the client reconnects with its cursor. After a 204 it never does."""
    if found.done and not found.events:
        return Response("", {}, 204)
    frames = "".join(sse.frame(http_shapes.event(one)) for one in found.events)
    # Never 0: a client keeps it for the day on which nobody answers.
    body = sse.with_retry(frames, max(found.next_poll_ms, cursor.SOON)) if frames else sse.HEARTBEAT
    return Response(body, {**sse.HEADERS})
