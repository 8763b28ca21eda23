"""The tools that runs may call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from chalicelib.core.agent import Agent
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec


class Toolbox(Protocol):
    """The tools of one agent: the built-in ones that it names, and those that it declares."""

    def pending(self) -> Callable[[], object] | None:
        """What must be done before the box can be asked anything, and may take seconds: asking servers for their lists.
        None if there is nothing."""

    def spec(self, name: str) -> ToolSpec | None:
        """The tool of that name, None if there is none."""

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """The tools of these names, and behind them those that the agent declares. What is not there is left out: a
        built-in tool that is not configured any more, the tools of a server while it is down."""

    def problem(self, call: ToolCall) -> str | None:
        """What is wrong with a call, in a sentence for the model: an unknown tool, bad arguments."""

    def fields(self, call: ToolCall) -> Mapping[str, Any]:
        """The values that permissions look at, in their canonical form. Only of a call without a problem."""

    def preview(self, call: ToolCall) -> str:
        """What the call would do, for the person who is asked. Only of a call without a problem."""

    def call(self, invocation: Invocation) -> ToolResult:
        """Make the call. Every failure of the tool is a result with `ok` false."""


class Toolboxes(Protocol):
    def of(self, account_id: str, agent: Agent) -> Toolbox:
        """The toolbox of an agent's runs."""
