"""Tools of every risk, for what judges their calls."""

from __future__ import annotations

from typing import Any

from chalicelib.core.tools import Effect, Mark, Matching, ToolSpec

NO_ARGS = {"type": "object", "additionalProperties": False}


def a_tool(name: str = "look", **more: Any) -> ToolSpec:
    return ToolSpec(name, f"Does {name}.", NO_ARGS, **more)


CLOCK = a_tool("clock", effect=Effect.READ, open_world=False)
NOTES = a_tool(
    "notes",
    effect=Effect.IDEMPOTENT,
    open_world=False,
    marks=frozenset({Mark.PRIVATE}),
    fields={"path": Matching.PATH, "op": Matching.TEXT},
)
FETCH = a_tool(
    "http_get",
    effect=Effect.READ,
    marks=frozenset({Mark.UNTRUSTED}),
    fields={"host": Matching.HOST, "method": Matching.TEXT},
)
TICKET = a_tool("ticket", effect=Effect.KEYED, fields={"size": Matching.NUMBER, "queue": Matching.TEXT})
MAIL = a_tool("mail.send", fields={"to": Matching.ADDRESS, "domain": Matching.HOST})

EVERY = (CLOCK, NOTES, FETCH, TICKET, MAIL)
