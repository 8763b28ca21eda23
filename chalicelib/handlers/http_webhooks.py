"""Webhooks: put, look, list, delete, another secret. A secret is told once, to whoever made it."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core import webhook
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.delete_webhook import delete_webhook as forget
from chalicelib.usecases.list_webhooks import list_webhooks
from chalicelib.usecases.put_webhook import put_webhook as put
from chalicelib.usecases.read_webhook import read_webhook
from chalicelib.usecases.rotate_webhook import rotate_webhook


def put_webhook(request: Request, caller: Caller, name: str) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, required={"url": str}, optional={"events": list})
    done = put(
        name,
        asked["url"],
        webhook.events(asked.get("events")),
        account_id=caller.account_id,
        webhooks=world.webhooks,
        policy=world.webhook_egress,
        clock=world.clock,
        chance=world.chance,
    )
    shape = http_shapes.webhook(done.webhook)
    return Response({**shape, "secret": done.webhook.secret}, None, 201) if done.made else Response(shape)


def get_webhook(request: Request, caller: Caller, name: str) -> Response:
    found = read_webhook(name, account_id=caller.account_id, webhooks=bootstrap.world().webhooks)
    return Response(http_shapes.webhook(found))


def get_webhooks(request: Request, caller: Caller) -> Response:
    found = list_webhooks(account_id=caller.account_id, webhooks=bootstrap.world().webhooks)
    return Response({"webhooks": [http_shapes.webhook(each) for each in found]})


def delete_webhook(request: Request, caller: Caller, name: str) -> Response:
    forget(name, account_id=caller.account_id, webhooks=bootstrap.world().webhooks)
    return Response("", status_code=204)


def post_secret(request: Request, caller: Caller, name: str) -> Response:
    world = bootstrap.world()
    http_input.body(request)
    rotated = rotate_webhook(
        name, account_id=caller.account_id, webhooks=world.webhooks, clock=world.clock, chance=world.chance
    )
    return Response({**http_shapes.webhook(rotated), "secret": rotated.secret}, None, 201)
