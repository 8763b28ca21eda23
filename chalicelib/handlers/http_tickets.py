"""Tickets, for EventSource and WebSocket."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core import ticket
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.make_ticket import make_ticket


def post_ticket(request: Request, caller: Caller) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, optional={"run_id": str})
    text, made = make_ticket(
        http_input.run_id(asked["run_id"]) if "run_id" in asked else None,
        account_id=caller.account_id,
        key_id=caller.key_id,
        scopes=caller.scopes,
        secret=world.ticket_secret,
        runs=world.runs,
        clock=world.clock,
    )
    told = {"ticket": text, "run_id": made.run_id, "expires_at": http_shapes.at(made.expires_at)}
    seconds = int(ticket.COUNTS_FOR.total_seconds())
    return Response({**told, "expires_in": seconds}, {"Cache-Control": "no-store"}, 201)
