"""What is taken for a JSON Schema, held against the metaschema of the standard."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from chalicelib.core import json_schema
from chalicelib.core.errors import InvalidInput

KEYWORDS = sorted(json_schema.KEYWORDS)

WHOLE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "title": "A search",
    "properties": {
        "text": {"type": ["string", "null"], "minLength": 1, "pattern": "^[a-z]+$", "examples": ["a"]},
        "page": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9.5, "multipleOf": 1, "default": 1},
        "kind": {"enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": True, "maxItems": 5},
        "deep": {"anyOf": [{"const": None}, True, {"not": {"type": "string"}}]},
    },
    "patternProperties": {"^x-": {}},
    "required": ["text"],
    "dependentRequired": {"page": ["text"]},
    "additionalProperties": False,
    "$defs": {"tag": {"type": "string", "format": "hostname", "x-ours": [1, {"two": 3}]}},
}


def test_a_schema_of_many_keywords_is_one() -> None:
    Draft202012Validator.check_schema(WHOLE)

    json_schema.check(WHOLE, "parameters")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(-1, 1)
    | st.sampled_from(["", "#/x", "object", "[", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYWORDS, "a", "["]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(KEYWORDS), json_values, max_size=3))
@settings(max_examples=300, deadline=None)
def test_nothing_is_taken_for_a_schema_that_the_standard_does_not_take_for_one(keywords: dict[str, Any]) -> None:
    schema = {**keywords, "type": "object"}
    try:
        json_schema.check(schema, "parameters")
    except InvalidInput:
        return
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "code", "field"),
    [
        ([], "wrong_type", "parameters"),
        ({}, "invalid_schema", "parameters.type"),
        ({"type": ["object"]}, "invalid_schema", "parameters.type"),
        ({"type": "object", "properties": []}, "invalid_schema", "parameters.properties"),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, "invalid_schema", "parameters.properties.a.type"),
        ({"type": "object", "anyOf": [{}, 7]}, "invalid_schema", "parameters.anyOf[1]"),
        ({"type": "object", "required": ["a", "a"]}, "invalid_schema", "parameters.required"),
        ({"type": "object", "maxProperties": True}, "invalid_schema", "parameters.maxProperties"),
        (
            {"type": "object", "properties": {"a": {"pattern": "("}}},
            "invalid_schema",
            "parameters.properties.a.pattern",
        ),
        ({"type": "object", "$ref": "https://x.example/schema"}, "invalid_schema", "parameters.$ref"),
        ({"type": "object", "$id": "https://x.example/schema"}, "invalid_schema", "parameters.$id"),
        ({"type": "object", "description": "x" * 16_384}, "schema_too_large", "parameters"),
    ],
)
def test_what_is_no_schema_is_refused_where_it_is_wrong(schema: Any, code: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        json_schema.check(schema, "parameters")

    assert (refused.value.code, refused.value.field) == (code, field)


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth - 1):
        schema = {"type": "object", "not": schema}
    return schema


def test_a_schema_may_be_so_deep_and_no_deeper() -> None:
    json_schema.check(nested(json_schema.MAX_DEPTH), "parameters")

    for depth in (json_schema.MAX_DEPTH + 1, 900):
        with pytest.raises(InvalidInput) as refused:
            json_schema.check(nested(depth), "parameters")
        assert refused.value.code == "schema_too_deep"
