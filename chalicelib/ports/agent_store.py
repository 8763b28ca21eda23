"""Where the agents are kept that accounts define themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.core.agent import Agent


class AgentStore(Protocol):
    """A version, once kept, is never changed and never deleted: runs go on with it."""

    def keep(self, account_id: str, agent: Agent) -> None:
        """Keep `agent` as the version after the newest one, and list it. Raises `VersionTaken`."""

    def newest(self, account_id: str, name: str) -> tuple[Agent, bool] | None:
        """The newest version, and whether it is listed, read strongly; None if there never was one."""

    def version(self, account_id: str, name: str, version: int) -> Agent | None:
        """That version of the agent, listed or not."""

    def listed(self, account_id: str) -> Sequence[Agent]:
        """The newest versions of the account's listed agents, by name, read strongly."""

    def list_again(self, account_id: str, agent: Agent) -> None:
        """List the agent again, if that is its newest version still. Raises `VersionTaken`."""

    def unlist(self, account_id: str, name: str, at: datetime) -> bool:
        """Take the agent off the list; the first time stands. Whether there is such an agent, listed or not."""
