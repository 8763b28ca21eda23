"""Tools that are Python functions. Whatever goes wrong in one is told to the model in a sentence; the run goes on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chalicelib.adapters.tools.schema import arguments_problem
from chalicelib.core.agent import Agent
from chalicelib.core.preview import preview
from chalicelib.core.redaction import Redactor
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec

logger = logging.getLogger(__name__)

LONGEST_QUOTE = 200
"""How much of bad arguments is shown to the model again."""

Function = Callable[[Invocation], str | ToolResult]
"""Makes a call. It keeps the deadline itself: no one can stop a Python function from outside."""

Tool = tuple[ToolSpec, Function]

Look = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Arguments to the values of the permission fields, where those are not simply arguments. Raises `ToolProblem`."""


class ToolProblem(Exception):  # noqa: N818 - named by what happened
    """The call cannot be made as it was asked for; the text tells the model what to do otherwise."""


class FunctionToolbox:
    """Each tool by its name."""

    def __init__(self, tools: Iterable[Tool], looks: Mapping[str, Look] | None = None) -> None:
        self._tools = {spec.name: (spec, function) for spec, function in tools}
        self._looks = looks or {}

    def pending(self) -> None:
        return None

    def spec(self, name: str) -> ToolSpec | None:
        return self._tools[name][0] if name in self._tools else None

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        return tuple(self._tools[name][0] for name in names if name in self._tools)

    def problem(self, call: ToolCall) -> str | None:
        if call.name not in self._tools:
            return f"There is no tool {call.name[:LONGEST_QUOTE]!r}. The tools are: {', '.join(self._tools)}."
        if call.malformed is not None:
            quoted = call.malformed[:LONGEST_QUOTE]
            return f"The arguments were no JSON object: {quoted!r}. Call {call.name} again with one."
        if (problem := arguments_problem(call.args, self._tools[call.name][0].parameters)) is not None:
            return problem
        try:
            self.fields(call)
        except ToolProblem as refused:
            return str(refused)
        return None

    def fields(self, call: ToolCall) -> Mapping[str, Any]:
        if call.name not in self._tools:
            return {}
        if call.name in self._looks:
            return self._looks[call.name](call.args)
        return {name: call.args[name] for name in self._tools[call.name][0].fields if name in call.args}

    def preview(self, call: ToolCall) -> str:
        """Also of a call whose tool is gone since: a person may be asked what became of it."""
        return preview(self.spec(call.name) or ToolSpec(call.name, "", {}), call.args)

    def call(self, invocation: Invocation) -> ToolResult:
        if invocation.call.name not in self._tools:
            # It was there when the call was begun, in another version of the runtime.
            return ToolResult(ok=False, content=self.problem(invocation.call) or "")
        return _outcome(invocation, *self._tools[invocation.call.name])


class Shared:
    """A `Toolboxes` of one box that every agent gets."""

    def __init__(self, toolbox: FunctionToolbox) -> None:
        self._toolbox = toolbox

    def of(self, account_id: str, agent: Agent) -> FunctionToolbox:
        return self._toolbox


def _outcome(invocation: Invocation, spec: ToolSpec, function: Function) -> ToolResult:
    """Only a `ToolProblem` says that nothing was done. Of whatever else goes wrong with a call that may not be made
    again, nobody knows whether it went wrong before its effect or after it."""
    call = invocation.call
    try:
        result = function(invocation)
        return ToolResult(ok=True, content=result) if isinstance(result, str) else result
    except ToolProblem as problem:
        return ToolResult(ok=False, content=str(problem))
    except TimeoutError:
        said = f"The tool {call.name} did not finish in time."
    # The one catch-all: a tool is not ours, so whatever it raises is its outcome, and not the end of the run.
    except Exception as fault:
        # A fault may quote what was sent: not even the log of the worker is told a secret.
        trace = Redactor(invocation.secrets)("".join(traceback.format_exception(fault)))
        logger.error("tool failed: call_id=%s name=%s\n%s", call.call_id, call.name, trace)
        said = f"The tool {call.name} failed with {type(fault).__name__}."
    return ToolResult(ok=False, content=said, unknown=not spec.effect.repeatable)
