"""The tools of an MCP server as the runtime takes them: under which name, and at which risk.

A server is a stranger. What it says of a tool can raise its risk and never lower it; only the account's own word does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.core.declared import SERVER_NAME, McpOverride, McpServer
from chalicelib.core.mcp_headers import mirrored
from chalicelib.core.remote_schema import UnusableSchema, harmless
from chalicelib.core.tools import Effect, Mark, Risk, ToolSpec

BETWEEN = "__"
"""Between the name of a server, which has no underscore, and that of its tool."""

LONGEST_NAME = 64
"""And letters, digits, `_` and `-` only: what every provider of models takes."""

LONGEST_REMOTE_NAME = 256
LONGEST_DESCRIPTION = 2_000
MOST_TOOLS = 100
"""Of one server."""

_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_TAG = 8


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool by the name that its server knows, and as it is shown here. `headers`: see `mcp_headers.mirrored`."""

    remote_name: str
    spec: ToolSpec
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken of a server's list, by name, and in a line each what was not, and why."""

    tools: Mapping[str, RemoteTool]
    left_out: tuple[str, ...]


def tool_name(server: str, tool: str) -> str:
    """`<server>__<tool>`; a tool's name that had to be changed gets a tag that tells it from others."""
    mended = _NO_NAME.sub("_", tool)
    name = f"{server}{BETWEEN}{mended}"
    if mended == tool and len(name) <= LONGEST_NAME:
        return name
    tag = hashlib.sha256(tool.encode()).hexdigest()[:_TAG]
    return f"{name[: LONGEST_NAME - _TAG - 1]}_{tag}"


def server_of(name: str) -> str | None:
    """The name of the server whose tool that would be, None for a name of another kind."""
    server, between, _ = name.partition(BETWEEN)
    return server if between and SERVER_NAME.fullmatch(server) else None


def taken(server: McpServer, listed: Iterable[Any]) -> Taken:
    """The tools that a server lists, each as far as it is usable. Of two that come to one name the first stands."""
    tools: dict[str, RemoteTool] = {}
    left_out = []
    for entry in listed:
        try:
            tool = _tool(server, entry)
            if tool.spec.name in tools:
                raise UnusableSchema("another tool has its name")
            if len(tools) == MOST_TOOLS:
                raise UnusableSchema(f"there are more than {MOST_TOOLS} tools")
            tools[tool.spec.name] = tool
        except UnusableSchema as why:
            left_out.append(f"{_name_of(entry)[:LONGEST_NAME]!r}: {why}")
    return Taken(tools, tuple(left_out))


def _tool(server: McpServer, entry: Any) -> RemoteTool:
    name = _name_of(entry)
    if not 1 <= len(name) <= LONGEST_REMOTE_NAME:
        raise UnusableSchema("it has no name, or one too long")
    description = entry.get("description")
    said = description[:LONGEST_DESCRIPTION] if isinstance(description, str) else ""
    override = server.tools.get(name, McpOverride())
    spec = ToolSpec(
        name=tool_name(server.name, name),
        description=said or f"The tool {name} of the server {server.name}.",
        parameters=harmless(entry.get("inputSchema")),
        effect=override.effect or Effect.IRREVERSIBLE,
        timeout=override.timeout,
        open_world=True if override.open_world is None else override.open_world,
        marks=frozenset({Mark.UNTRUSTED}),
        at_least=max(override.at_least, _hinted(entry.get("annotations"))),
        secrets=() if server.secret is None else (server.secret,),
    )
    return RemoteTool(name, spec, mirrored(entry.get("inputSchema")))


def _name_of(entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) else ""


def _hinted(annotations: Any) -> Risk:
    """The risk that a server itself owns up to. What speaks for less is not heard."""
    said = annotations if isinstance(annotations, dict) else {}
    if said.get("destructiveHint") is True:
        return Risk.GRAVE
    if said.get("readOnlyHint") is False:
        return Risk.CHANGES
    return Risk.OUTSIDE if said.get("openWorldHint") is True else Risk.HARMLESS
