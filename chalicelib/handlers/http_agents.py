"""The agents that runs can name."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.handlers import http_shapes
from chalicelib.handlers.authorizer import Caller


def get_agents(request: Request, caller: Caller) -> Response:
    return Response({"agents": [http_shapes.agent(agent) for agent in bootstrap.world().agents.all(caller.account_id)]})
