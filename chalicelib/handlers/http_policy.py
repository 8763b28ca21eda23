"""The account's policy: what its runs may do at most."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.set_policy import set_policy


def get_policy(request: Request, caller: Caller) -> Response:
    return Response(http_shapes.policy(bootstrap.world().policies.policy(caller.account_id)))


def put_policy(request: Request, caller: Caller) -> Response:
    world = bootstrap.world()
    asked = http_input.body(request, required={"version": int, "permissions": list})
    policy = set_policy(
        asked["permissions"],
        asked["version"],
        account_id=caller.account_id,
        actor=caller.key_id,
        built_in=world.built_in_specs,
        agents=world.own_agents,
        policies=world.policies,
        clock=world.clock,
    )
    return Response(http_shapes.policy(policy))
