"""One agent, whole."""

from __future__ import annotations

from chalicelib.core import recipe
from chalicelib.core.account import no_such_agent
from chalicelib.core.agent import Agent
from chalicelib.ports.agent_book import AgentBook


def read_agent(name: str, version: int | None, *, account_id: str, agents: AgentBook) -> Agent:
    """The agent in that version, or as new runs get it. Raises `NotFound`."""
    found = agents.find(account_id, name, version) if recipe.is_name(name) else None
    if found is None:
        raise no_such_agent()
    return found
