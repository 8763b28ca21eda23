"""Tools that an agent brings along as data, beside the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.core.tools import Effect, Risk, ToolSpec

SERVER_NAME = re.compile(r"[a-zA-Z0-9-]{1,24}")
"""What an MCP server may be called: no underscore, so that the name of a tool says whose it is."""


@dataclass(frozen=True, slots=True)
class LambdaTool:
    """A function of the account, by name or ARN. `role`: the ARN of a role that each call takes on, narrowed by the
    run's permissions; without one the runtime's own right to invoke that function is used."""

    spec: ToolSpec
    function: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class OutsideTool:
    """A tool that somebody answers by a request of their own, perhaps hours later."""

    spec: ToolSpec


@dataclass(frozen=True, slots=True)
class McpOverride:
    """What the account knows better about a server's tool than the server's annotations; only this lowers a risk."""

    effect: Effect | None = None
    open_world: bool | None = None
    at_least: Risk = Risk.HARMLESS
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server over streamable HTTP; its tools are named by `mcp.tool_name`, as in `weather__forecast`.

    `secret` names what is sent as a bearer token. `tools` is by the names that the server itself uses.
    """

    name: str
    url: str
    secret: str | None = None
    tools: Mapping[str, McpOverride] = field(default_factory=dict)


DeclaredTool = LambdaTool | OutsideTool | McpServer
