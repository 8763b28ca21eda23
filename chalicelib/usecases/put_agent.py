"""Define an agent of the account: each other content is its next version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chalicelib.core import grants, recipe
from chalicelib.core.agent import Agent
from chalicelib.core.errors import Conflict, InvalidInput, Unavailable, VersionTaken
from chalicelib.core.recipe import Offer
from chalicelib.core.tools import ToolSpec
from chalicelib.ports.agent_store import AgentStore
from chalicelib.ports.toolbox import Toolbox, Toolboxes

MAX_AGENTS = 200
"""So that all of them fit one list. Writers who come at once may pass it by one another."""

TRIES = 20
"""Each one lost is a version of somebody else's."""


def put_agent(
    name: str,
    asked: Mapping[str, Any],
    *,
    account_id: str,
    offer: Offer,
    reserved: frozenset[str],
    store: AgentStore,
    toolboxes: Toolboxes,
) -> tuple[Agent, bool]:
    """The agent as it stands now, and whether that is a new version. Raises `InvalidInput` and `Conflict`."""
    recipe.check_name(name)
    if name in reserved:
        raise Conflict("agent_built_in", f"{name} comes along with Pawl", field="name", expected="another name")
    recipe.check(asked, offer)
    agent = _read(name, asked, account_id, toolboxes)
    for _ in range(TRIES):
        try:
            return _put(agent, account_id, store)
        except VersionTaken:
            continue
    raise Unavailable(f"{name} was changed by others {TRIES} times in a row")


def _put(agent: Agent, account_id: str, store: AgentStore) -> tuple[Agent, bool]:
    found = store.newest(account_id, agent.name)
    if found is None:
        _check_room(account_id, store)
        store.keep(account_id, agent)
        return agent, True
    newest, listed = found
    if recipe.digest(newest) != recipe.digest(agent):
        following = replace(agent, version=newest.version + 1)
        store.keep(account_id, following)
        return following, True
    if not listed:
        store.list_again(account_id, newest)
    return newest, False


def _check_room(account_id: str, store: AgentStore) -> None:
    if len(store.listed(account_id)) >= MAX_AGENTS:
        raise Conflict("too_many_agents", f"the account has {MAX_AGENTS} agents", expected="one of them, or one less")


def _read(name: str, asked: Mapping[str, Any], account_id: str, toolboxes: Toolboxes) -> Agent:
    """The agent that is asked for, held against the tools that there are."""
    bare = recipe.read(name, 1, {**asked, "permissions": None})
    declared = recipe.declared_names(bare)
    toolbox = toolboxes.of(account_id, replace(bare, tools=(*bare.tools, *declared), declared=()))
    built_in = [_built_in(tool, f"tools[{place}]", toolbox) for place, tool in enumerate(bare.tools)]
    for place, tool in enumerate(declared):
        if toolbox.spec(tool) is not None:
            detail, expected = f"{tool!r} is a built-in tool", "a name of its own"
            raise InvalidInput("tool_name_taken", detail, field=f"declared[{place}].name", expected=expected)
    about = (*built_in, *recipe.declared_specs(bare))
    return replace(bare, permissions=grants.parse(asked.get("permissions") or [], field="permissions", specs=about))


def _built_in(tool: str, field: str, toolbox: Toolbox) -> ToolSpec:
    spec = toolbox.spec(tool)
    if spec is None:
        expected = "the name of a built-in tool; what is declared need not be named"
        raise InvalidInput("unknown_tool", f"there is no tool {tool!r}", field=field, expected=expected)
    return spec
