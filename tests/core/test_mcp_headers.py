"""Arguments that are shown in headers too."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.core.mcp_headers import mirrored
from chalicelib.core.remote_schema import UnusableSchema


def wanting(name: Any = "City", kind: Any = "string") -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": name}


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_each_is_found_by_the_way_to_it() -> None:
    schema = an_object(city=wanting(), when=an_object(days=wanting("Days", "integer")), other={"type": "string"})

    assert mirrored(schema) == {"City": ("city",), "Days": ("when", "days")}


def test_what_only_looks_like_the_keyword_is_none() -> None:
    schema = an_object(**{"x-mcp-header": {"type": "string"}}, city={"default": {"x-mcp-header": 7}})

    assert mirrored(schema) == {}
    assert mirrored("no schema") == {}


@pytest.mark.parametrize(
    "schema",
    [
        an_object(a=wanting("")),
        an_object(a=wanting("two words")),
        an_object(a=wanting("a:b")),
        an_object(a=wanting("a\r\nb")),
        an_object(a=wanting("Zürich")),
        an_object(a=wanting(7)),
        an_object(a=wanting(kind="number")),
        an_object(a=wanting(kind="object")),
        an_object(a=wanting(kind=["string"])),
        an_object(a={"x-mcp-header": "City"}),
        an_object(a=wanting(), b=wanting()),
        an_object(a=wanting(), b=wanting("cITY")),
        wanting(kind="object"),
        an_object(a={"items": wanting()}),
        an_object(a={"anyOf": [wanting()]}),
        {**an_object(), "$defs": {"a": wanting()}},
        {**an_object(), "patternProperties": {"a": wanting()}},
        an_object(a={"not": an_object(b=wanting())}),
    ],
)
def test_a_tool_that_wants_what_cannot_be_is_refused(schema: Any) -> None:
    with pytest.raises(UnusableSchema):
        mirrored(schema)
