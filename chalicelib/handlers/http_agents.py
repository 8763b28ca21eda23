"""Agents: list those that runs can name, define, look at and delete an account's own."""

from __future__ import annotations

from chalice.app import Request, Response

from chalicelib import bootstrap
from chalicelib.handlers import http_input, http_shapes
from chalicelib.handlers.authorizer import Caller
from chalicelib.usecases.delete_agent import delete_agent
from chalicelib.usecases.put_agent import put_agent
from chalicelib.usecases.read_agent import read_agent

MAX_VERSION = 9_999_999_999


def get_agents(request: Request, caller: Caller) -> Response:
    return Response({"agents": [http_shapes.agent(agent) for agent in bootstrap.world().agents.all(caller.account_id)]})


def get_agent(request: Request, caller: Caller, name: str) -> Response:
    params = http_input.params(request)
    version = http_input.number(params, "version", 0, 0, MAX_VERSION) if "version" in params else None
    agent = read_agent(name, version, account_id=caller.account_id, agents=bootstrap.world().agents)
    return Response(http_shapes.whole_agent(agent))


def put_agent_of(request: Request, caller: Caller, name: str) -> Response:
    world = bootstrap.world()
    agent, is_new = put_agent(
        name,
        http_input.parsed(request.raw_body),
        account_id=caller.account_id,
        offer=world.offer,
        reserved=world.reserved_agents,
        store=world.own_agents,
        toolboxes=world.toolboxes,
    )
    location = {"Location": f"/v1/agents/{agent.name}?version={agent.version}"}
    return Response(http_shapes.whole_agent(agent), {**location}, 201 if is_new else 200)


def delete_agent_of(request: Request, caller: Caller, name: str) -> Response:
    world = bootstrap.world()
    delete_agent(
        name,
        account_id=caller.account_id,
        reserved=world.reserved_agents,
        store=world.own_agents,
        clock=world.clock,
    )
    return Response("", status_code=204)
