"""The agents that runs can name: the account's own, and those that come along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.agent import Agent


class AgentBook(Protocol):
    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        """The agent of that name as the account knows it; its newest version unless one is named."""

    def all(self, account_id: str) -> Sequence[Agent]:
        """Every agent that the account can name, by name, in its newest version."""
