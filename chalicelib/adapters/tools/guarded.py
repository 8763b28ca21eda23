"""What every call goes through on its way to a tool and back: secrets in, secrets out of the result, and its size."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from chalicelib.adapters.tools.toolbox import ToolProblem
from chalicelib.core import results
from chalicelib.core.agent import Agent
from chalicelib.core.errors import Unavailable
from chalicelib.core.redaction import SHORTEST, Redactor
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec
from chalicelib.ports.secrets import Secrets
from chalicelib.ports.toolbox import Toolbox, Toolboxes

logger = logging.getLogger(__name__)

Keep = Callable[[str, str, str], str]
"""Keeps a text as a payload of a run, under the name of its writer, and gives the digest. Raises `Unavailable`."""


class Guards:
    """A `Toolboxes`: those of another, guarded."""

    def __init__(self, toolboxes: Toolboxes, secrets: Secrets, keep: Keep) -> None:
        self._toolboxes = toolboxes
        self._secrets = secrets
        self._keep = keep

    def of(self, account_id: str, agent: Agent) -> Toolbox:
        return Guarded(self._toolboxes.of(account_id, agent), account_id, self._secrets, self._keep)


class Guarded:
    """A `Toolbox`. The tools in it know their secrets, the log and the model never do."""

    def __init__(self, toolbox: Toolbox, account_id: str, secrets: Secrets, keep: Keep) -> None:
        self._toolbox = toolbox
        self._account_id = account_id
        self._secrets = secrets
        self._keep = keep

    def pending(self) -> Callable[[], object] | None:
        return self._toolbox.pending()

    def spec(self, name: str) -> ToolSpec | None:
        return self._toolbox.spec(name)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        return self._toolbox.specs(names)

    def problem(self, call: ToolCall) -> str | None:
        return self._toolbox.problem(call)

    def fields(self, call: ToolCall) -> Mapping[str, Any]:
        return self._toolbox.fields(call)

    def preview(self, call: ToolCall) -> str:
        spec = self._toolbox.spec(call.name)
        known = {name: self._secrets.get(self._account_id, name) for name in spec.secrets} if spec else {}
        return Redactor({name: value for name, value in known.items() if value})(self._toolbox.preview(call))

    def call(self, invocation: Invocation) -> ToolResult:
        spec = self._toolbox.spec(invocation.call.name)
        try:
            secrets = {name: self._secret(name) for name in spec.secrets} if spec else {}
        except ToolProblem as problem:
            return ToolResult(ok=False, content=str(problem))
        result = self._toolbox.call(replace(invocation, secrets=secrets))
        # What a tool brings must become text before secrets are looked for: repaired later, it could spell one.
        content = Redactor(secrets)(results.clean(result.content))
        return replace(result, content=self._capped(content, spec.shown_bytes if spec else 0, invocation))

    def _secret(self, name: str) -> str:
        try:
            secret = self._secrets.get(self._account_id, name)
        except Unavailable as fault:
            logger.error("secret not read: account_id=%s name=%s fault=%s", self._account_id, name, fault)
            raise ToolProblem("The tool's secrets cannot be read at the moment; try again later.") from fault
        if secret is None:
            raise ToolProblem(f"The account has no secret {name}, which the tool needs; do without the tool.")
        if len(secret) < SHORTEST:
            raise ToolProblem(f"The account's secret {name} is too short to be kept secret; do without the tool.")
        return secret

    def _capped(self, content: str, most: int, invocation: Invocation) -> str:
        if results.fits(content, most):
            return content
        try:
            digest = self._keep(invocation.run_id, invocation.call.call_id, results.kept(content))
        except Unavailable:
            # The call has had its effect: what is known of it is told, whatever else fails.
            return results.shortened(content, most, None)
        return results.shortened(content, most, digest)
