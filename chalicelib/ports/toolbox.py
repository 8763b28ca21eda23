"""The tools that runs may call."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import ToolResult, ToolSpec


class Toolbox(Protocol):
    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        """The tools of these names; raises KeyError for one that is not there."""

    def call(self, call: ToolCall, deadline: datetime) -> ToolResult:
        """Make the call. Every failure of the tool is a result with `ok` false, also an unknown tool and bad
        arguments."""
