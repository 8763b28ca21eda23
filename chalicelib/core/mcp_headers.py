"""Arguments that an MCP server wants to see in headers too, so that what stands before it can route a call unread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib.core.remote_schema import HOLD_LIST, HOLD_NAMED, HOLD_ONE, UnusableSchema

KEYWORD = "x-mcp-header"
TYPES = frozenset({"string", "integer", "boolean"})

# Where a schema may stand that is not kept here, but may carry the keyword all the same.
_ONE = HOLD_ONE | {"unevaluatedItems", "unevaluatedProperties", "contentSchema"}
_NAMED = HOLD_NAMED | {"patternProperties", "$defs", "definitions"}
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

Path = tuple[str, ...]
"""The names of properties, from the arguments down."""


def mirrored(schema: Any) -> Mapping[str, Path]:
    """By the names of the headers, without their prefix. Raises `UnusableSchema` where the keyword stands wrongly."""
    found: dict[str, Path] = {}
    for path, each in _schemas(schema):
        if KEYWORD in each:
            name = each[KEYWORD]
            _check(name, path, each.get("type"))
            if name.lower() in map(str.lower, found):
                raise UnusableSchema("two arguments want the same header")
            found[name] = path or ()
    return found


def _check(name: Any, path: Path | None, kind: Any) -> None:
    if not path or not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise UnusableSchema("it wants a header that cannot be meant")
    if not isinstance(kind, str) or kind not in TYPES:
        raise UnusableSchema("it wants a header of what is no text, whole number or truth")


def _schemas(root: Any) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    """Every schema within; with its path if nothing but properties leads there. Not recursive: it may be deep."""
    left: list[tuple[Path | None, Any]] = [((), root)]
    while left:
        path, schema = left.pop()
        if isinstance(schema, dict):
            yield path, schema
            for keyword, value in schema.items():
                left += _within(path, keyword, value)


def _within(path: Path | None, keyword: str, value: Any) -> list[tuple[Path | None, Any]]:
    if keyword == "properties" and isinstance(value, dict):
        return [(None if path is None else (*path, name), each) for name, each in value.items()]
    if keyword in _NAMED and isinstance(value, dict):
        return [(None, each) for each in value.values()]
    if keyword in HOLD_LIST and isinstance(value, list):
        return [(None, each) for each in value]
    return [(None, value)] if keyword in _ONE else []
