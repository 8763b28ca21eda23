"""The toolbox of each agent: the built-in tools, and what it declares beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.tools.toolbox import LONGEST_QUOTE, FunctionToolbox, Tool, ToolProblem
from chalicelib.core.agent import Agent
from chalicelib.core.declared import LambdaTool, McpServer, OutsideTool
from chalicelib.core.preview import preview
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Answers, Invocation, ToolResult, ToolSpec
from chalicelib.ports.toolbox import Toolbox

if TYPE_CHECKING:
    from chalicelib.adapters.tools.lambda_tool import LambdaTools
    from chalicelib.adapters.tools.mcp_box import RemoteBox
    from chalicelib.adapters.tools.mcp_servers import McpServers


class Boxes:
    """A `Toolboxes`. What only some agents need is made when the first of them comes."""

    def __init__(
        self, built_in: Toolbox, *, functions: Callable[[], LambdaTools], servers: Callable[[], McpServers]
    ) -> None:
        self._built_in = built_in
        self._functions = functions
        self._servers = servers

    def of(self, account_id: str, agent: Agent) -> Toolbox:
        if not agent.declared:
            return self._built_in
        tools = [
            _outside(each) if isinstance(each, OutsideTool) else self._functions().tool(each)
            for each in agent.declared
            if isinstance(each, OutsideTool | LambdaTool)
        ]
        declared = FunctionToolbox(_first_of_each_name(tools))
        return AgentToolbox(self._built_in, declared, [spec.name for spec, _ in tools], self._remote(account_id, agent))

    def _remote(self, account_id: str, agent: Agent) -> RemoteBox | None:
        servers = [each for each in agent.declared if isinstance(each, McpServer)]
        if not servers:
            return None
        from chalicelib.adapters.tools.mcp_box import RemoteBox

        return RemoteBox(account_id, servers, self._servers())


class AgentToolbox:
    """A `Toolbox`. Of two tools of one name a built-in one stands first, then one that is declared by itself."""

    def __init__(
        self, built_in: Toolbox, declared: FunctionToolbox, names: Sequence[str], remote: RemoteBox | None
    ) -> None:
        self._built_in = built_in
        self._declared = declared
        self._names = names
        self._remote = remote

    def pending(self) -> Callable[[], object] | None:
        return self._remote.pending() if self._remote else None

    def spec(self, name: str) -> ToolSpec | None:
        return self._box(name).spec(name)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        remote = self._remote.names_now() if self._remote else ()
        wanted = dict.fromkeys([*names, *self._names, *remote])
        return tuple(spec for name in wanted for spec in self._box(name).specs([name]))

    def problem(self, call: ToolCall) -> str | None:
        if self.spec(call.name) is not None:
            return self._box(call.name).problem(call)
        if self._remote is not None and (down := self._remote.why_lost(call.name)) is not None:
            return down
        names = ", ".join(spec.name for spec in self.specs(()))
        return f"There is no tool {call.name[:LONGEST_QUOTE]!r}. Among those that there are: {names}."

    def fields(self, call: ToolCall) -> Mapping[str, Any]:
        return self._box(call.name).fields(call) if self.spec(call.name) is not None else {}

    def preview(self, call: ToolCall) -> str:
        """Also of a call whose server is gone since: a person may be asked what became of it."""
        return preview(self.spec(call.name) or ToolSpec(call.name, "", {}), call.args)

    def call(self, invocation: Invocation) -> ToolResult:
        if self.spec(invocation.call.name) is None:
            # It was there when it was let through, perhaps hours ago.
            return ToolResult(ok=False, content=self.problem(invocation.call) or "")
        return self._box(invocation.call.name).call(invocation)

    def _box(self, name: str) -> Toolbox:
        for box in (self._built_in, self._declared):
            if box.spec(name) is not None:
                return box
        return self._remote.box if self._remote is not None and self._remote.may_have(name) else self._built_in


def _outside(declared: OutsideTool) -> Tool:
    return replace(declared.spec, answers=Answers.OUTSIDE), _never_called


def _never_called(invocation: Invocation) -> ToolResult:
    raise ToolProblem(f"The tool {invocation.call.name} is answered from outside.")


def _first_of_each_name(tools: Iterable[Tool]) -> list[Tool]:
    by_name: dict[str, Tool] = {}
    for spec, function in tools:
        by_name.setdefault(spec.name, (spec, function))
    return [*by_name.values()]
