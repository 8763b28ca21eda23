"""The agents that runs can name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.agent import Agent


class AgentBook(Protocol):
    def find(self, name: str) -> Agent | None:
        """The agent of that name, if there is one."""

    def all(self) -> Sequence[Agent]:
        """Every agent, by name."""
