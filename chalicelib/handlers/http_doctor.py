"""The doctor's two doors: look, and look and repair."""

from __future__ import annotations

from dataclasses import asdict

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.handlers import http_input
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.examine import examine

DEFAULT_LIMIT, MAX_LIMIT = 20, 100
"""Runs a page: each is read whole, and API Gateway gives up on us after 29 s."""


def get_doctor(request: Request, caller: Caller) -> Response:
    return _examine(request, caller, repair=False)


def post_repair(request: Request, caller: Caller) -> Response:
    return _examine(request, caller, repair=True)


def _examine(request: Request, caller: Caller, *, repair: bool) -> Response:
    world = bootstrap.world()
    params = http_input.params(request)
    examined = examine(
        account_id=caller.account_id,
        repair=repair,
        limit=http_input.number(params, "limit", DEFAULT_LIMIT, 1, MAX_LIMIT),
        next=http_input.after(params),
        runs=world.runs,
        slots=world.slots,
        audit=world.audit,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )
    return Response(asdict(examined))
