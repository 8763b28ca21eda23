"""API keys: make, list, revoke. A secret is told once, to whoever made the key."""

from __future__ import annotations

from typing import Any

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import InvalidInput
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.list_keys import list_keys
from chalicelib.usecases.make_key import make_key
from chalicelib.usecases.revoke_key import revoke_key


def post_key(request: Request, caller: Caller) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, required={"name": str, "scopes": list})
    key, secret = make_key(
        asked["name"],
        _scopes(asked["scopes"]),
        account_id=caller.account_id,
        keys=world.keys,
        clock=world.clock,
        chance=world.chance,
    )
    return Response({**http_shapes.key(key), "secret": secret}, {"Location": f"/v1/keys/{key.key_id}"}, 201)


def _scopes(names: list[Any]) -> frozenset[Scope]:
    if unknown := [name for name in names if name not in list(Scope)]:
        expected = f"any of: {', '.join(Scope)}"
        raise InvalidInput("invalid_scopes", f"{unknown[0]!r:.80} is no scope", field="scopes", expected=expected)
    return frozenset(Scope(name) for name in names)


def get_keys(request: Request, caller: Caller) -> Response:
    keys = list_keys(account_id=caller.account_id, keys=bootstrap.world().keys)
    return Response({"keys": [http_shapes.key(key) for key in keys]})


def delete_key(request: Request, caller: Caller, key_id: str) -> Response:
    world = bootstrap.world()
    key = revoke_key(key_id, account_id=caller.account_id, keys=world.keys, clock=world.clock)
    return Response(http_shapes.key(key))
