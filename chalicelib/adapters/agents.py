"""The agents that come along, and beside them those that an account defines itself."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.agent import BUILT_IN, Agent
from chalicelib.ports.agent_store import AgentStore


class Agents:
    """An `AgentBook`: the built-in agents, which cost no look into the store, and the account's own."""

    def __init__(self, built_in: Sequence[Agent], own: AgentStore) -> None:
        self._built_in = {agent.name: agent for agent in built_in}
        self._own = own

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        if version == BUILT_IN or (version is None and name in self._built_in):
            return self._built_in.get(name)
        if version is not None:
            return self._own.version(account_id, name, version)
        found = self._own.newest(account_id, name)
        return found[0] if found and found[1] else None

    def all(self, account_id: str) -> Sequence[Agent]:
        own = {agent.name: agent for agent in self._own.listed(account_id)}
        return tuple(agent for _, agent in sorted({**own, **self._built_in}.items()))
