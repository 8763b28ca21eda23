"""WebSockets: opening, messages, closing, as API Gateway hands them on. Answers go out by the socket itself."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from chalicelib import bootstrap
from chalicelib.bootstrap import World
from chalicelib.core.errors import Refusal, Unauthenticated, Unavailable
from chalicelib.core.watch import counts
from chalicelib.handlers import http_input, problems, socket_shapes
from chalicelib.handlers.socket_actions import ACTIONS, Caller
from chalicelib.usecases.connect import connect
from chalicelib.usecases.disconnect import disconnect, turn_away
from chalicelib.usecases.pump import Needs, say

MARGIN = timedelta(seconds=5)
"""What a pump leaves of an invocation: for the post that it is in the middle of, and its retries."""

log = logging.getLogger(__name__)


def socket(event: dict[str, Any], context: Any) -> dict[str, int]:
    """What becomes of a route's event; the status decides only whether a socket opens."""
    told = event["requestContext"]
    match told["routeKey"]:
        case "$connect":
            return _status(_connect(told["connectionId"], event.get("queryStringParameters") or {}))
        case "$disconnect":
            disconnect(told["connectionId"], watches=bootstrap.world().watches)
        case _:
            _message(told["connectionId"], event.get("body") or "", context)
    return _status(HTTPStatus.OK)


def needs(world: World) -> Needs:
    """What it takes to tell sockets of a log."""
    return Needs(
        watches=world.watches,
        sockets=world.sockets,
        runs=world.runs,
        clock=world.clock,
        frames=socket_shapes.frames,
        gone=socket_shapes.gone,
        replay_cap=world.config.replay_cap,
    )


def until(world: World, context: Any) -> datetime:
    """When an invocation has to come to its end."""
    return world.clock.now() + timedelta(milliseconds=context.get_remaining_time_in_millis()) - MARGIN


def _status(status: HTTPStatus) -> dict[str, int]:
    return {"statusCode": status.value}


def _connect(connection_id: str, query: Mapping[str, str]) -> HTTPStatus:
    world = bootstrap.world()
    try:
        http_input.check_names(query, ("ticket",))
        sent = query.get("ticket", "")
        connect(connection_id, sent, secret=world.ticket_secret, watches=world.watches, clock=world.clock)
    except Refusal as refusal:
        log.info("not let in: %s", refusal.code, extra={"action": "connect"})
        return problems.of(refusal)[0]
    except Unavailable as fault:
        log.warning("unavailable: %s", fault, extra={"action": "connect"})
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.OK


def _message(connection_id: str, body: str, context: Any) -> None:
    world = bootstrap.world()
    about: dict[str, str] = {}
    try:
        caller = _caller(connection_id, world, context)
        message = http_input.parsed(body)
        about = socket_shapes.about(message)
        asked = socket_shapes.asked(message)
        ACTIONS[asked["action"]](caller, asked)
    except problems.TOLD_BY_CODE as fault:
        _, told = problems.of(fault)
        say(connection_id, socket_shapes.problem(about, told), needs=needs(world))
        if isinstance(fault, Unauthenticated):
            turn_away(connection_id, watches=world.watches, sockets=world.sockets)
    except Unavailable as fault:
        log.warning("unavailable: %s", fault, extra={"action": "message"})
        say(connection_id, socket_shapes.unavailable(about), needs=needs(world))


def _caller(connection_id: str, world: World, context: Any) -> Caller:
    """Who sends. Raises `Unauthenticated` once its ticket counts no more."""
    found = world.watches.connection(connection_id)
    if found is None or not counts(found[0], world.clock.now()):
        detail = "the ticket of this socket has expired; open another one and go on from your cursor"
        raise Unauthenticated("ticket_expired", detail)
    return Caller(*found, world, needs(world), until(world, context))
