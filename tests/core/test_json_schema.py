"""What is taken for a JSON Schema, held against the metaschema of the standard."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from chalicelib.adapters.tools.schema import arguments_problem
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


@pytest.mark.parametrize("reference", ["#", "#/properties/a%20b", "#/x/0", "#/$defs/c~1d"])
def test_a_reference_may_lead_to_every_schema_of_its_document(reference: str) -> None:
    schema = {
        "type": "object",
        "x": [{"type": "string"}],
        "properties": {"a b": {}, "n": {"$ref": reference}},
        "$defs": {"c/d": True},
    }
    json_schema.check(schema, "parameters")
    assert arguments_problem({}, schema) is None


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
        ({"type": "object", "multipleOf": 10**400}, "invalid_schema", "parameters.multipleOf"),
        ({"type": "object", "maximum": float("inf")}, "invalid_schema", "parameters.maximum"),
        ({"type": "object", "enum": [1, -(2**53) - 1]}, "invalid_schema", "parameters.enum[1]"),
        ({"type": "object", "not": {"$ref": "#/$defs/none"}}, "invalid_schema", "parameters"),
        ({"type": "object", "not": {"$ref": "#named"}}, "invalid_schema", "parameters"),
        ({"type": "object", "not": {"$ref": "#/x/1"}, "x": [{}]}, "invalid_schema", "parameters"),
        ({"type": "object", "not": {"$ref": "#/x/y"}, "x": [{}]}, "invalid_schema", "parameters"),
        ({"type": "object", "title": "t", "anyOf": [{"$ref": "#/title"}]}, "invalid_schema", "parameters.title"),
        ({"type": "object", "x": [7], "$ref": "#/x/0"}, "invalid_schema", "parameters.x.0"),
        ({"type": "object", "x": {"type": "odd"}, "$ref": "#/x"}, "invalid_schema", "parameters.x.type"),
        ({"type": "object", "x": {"$ref": "#/y"}, "$ref": "#/x"}, "invalid_schema", "parameters"),
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
