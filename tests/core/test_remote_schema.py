"""Schemas of strangers, made harmless."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chalicelib.core.remote_schema import MAX_BYTES, UnusableSchema, harmless


def an_object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def of_argument(schema: Any) -> Any:
    """What becomes of the schema of one argument."""
    return harmless(an_object(it=schema))["properties"]["it"]


def test_what_says_something_and_does_no_harm_is_kept() -> None:
    schema = {
        **an_object(
            city={"type": "string", "description": "Which?", "minLength": 1, "format": "city", "enum": ["Oslo", None]},
            days={"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9.5, "default": 3},
            places={"type": "array", "items": {"type": "string"}, "maxItems": 3, "prefixItems": [True]},
            either={"anyOf": [{"const": "a"}, {"not": {"type": "object"}}]},
        ),
        "required": ["city"],
        "additionalProperties": False,
    }

    assert harmless(schema) == schema


def test_an_argument_may_be_called_like_a_keyword() -> None:
    schema = an_object(pattern={"type": "string"}, **{"$ref": {"type": "string"}})

    assert harmless(schema) == schema


@pytest.mark.parametrize(
    "dangerous",
    [
        {"pattern": "^(a+)+$"},
        {"patternProperties": {"^(a+)+$": {}}},
        {"propertyNames": {"pattern": "^(a+)+$"}},
        {"allOf": [{"not": {"pattern": "^(a+)+$"}}]},
        {"unevaluatedProperties": False},
        {"uniqueItems": True},
        {"$dynamicRef": "#x"},
        {"$id": "https://example.com/schema"},
        {"multipleOf": 0},
    ],
)
def test_what_may_take_for_ever_or_leads_elsewhere_is_left_out(dangerous: dict[str, Any]) -> None:
    text = json.dumps(of_argument({"type": "string", **dangerous}))

    assert '"string"' in text
    assert not any(word in text for word in ("a+", "unevaluated", "unique", "$", "multipleOf"))


@pytest.mark.parametrize(
    "malformed",
    [
        {"type": "text"},
        {"type": []},
        {"type": 5},
        {"minimum": "1"},
        {"minLength": -1},
        {"maxItems": True},
        {"required": "city"},
        {"required": [1]},
        {"enum": "ab"},
        {"enum": [[[]]]},
        {"const": {"a": {}}},
        {"anyOf": []},
        {"properties": []},
        {"items": [{"type": "string"}]},
    ],
)
def test_what_is_not_of_its_form_is_left_out(malformed: dict[str, Any]) -> None:
    assert of_argument({"title": "It", **malformed}) == {"title": "It"}


def test_a_reference_is_replaced_by_what_it_refers_to() -> None:
    schema = {
        **an_object(a={"$ref": "#/$defs/Place"}, b={"$ref": "#/$defs/a~1b", "description": "Ours."}),
        "$defs": {"Place": an_object(name={"type": "string"}), "a/b": {"type": "integer"}},
    }

    made = harmless(schema)

    assert made["properties"]["a"] == an_object(name={"type": "string"})
    assert made["properties"]["b"] == {"description": "Ours.", "allOf": [{"type": "integer"}]}
    assert "$defs" not in made


def widening(levels: int, by: int) -> dict[str, Any]:
    """References to what holds as many references, and so on: little to read, and `by ** levels` schemas to check."""
    definitions: dict[str, Any] = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * by} for at in range(levels)}
    return {**an_object(it={"$ref": "#/$defs/a0"}), "$defs": {**definitions, f"a{levels}": {"type": "string"}}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"not": schema}
    return an_object(it=schema)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, "no schema of an object"),
        ([], "no schema of an object"),
        (True, "no schema of an object"),
        ({"type": "array"}, "no schema of an object"),
        (an_object(it="no schema"), "holds something that is no schema"),
        (an_object(it={"anyOf": [1]}), "holds something that is no schema"),
        (an_object(it={"$ref": "https://example.com/schema"}), "outside of itself"),
        (an_object(it={"$ref": "other/properties/a", "a": {}}), "outside of itself"),
        (an_object(it={"$ref": 7}), "outside of itself"),
        (an_object(it={"$ref": "#/$defs/none"}), "not there"),
        ({**an_object(it={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}, "refers to itself"),
        (an_object(it={"$ref": "#"}), "refers to itself"),
        (widening(4, 10), "too large, too deep"),
        (nested(100), "too large, too deep"),
        (an_object(it={"enum": ["x" * MAX_BYTES]}), f"more than {MAX_BYTES} bytes"),
        (an_object(**{f"p{at}": {} for at in range(2_000)}), "too large, too deep"),
    ],
)
def test_what_cannot_be_made_harmless_is_refused(schema: Any, why: str) -> None:
    with pytest.raises(UnusableSchema, match=why):
        harmless(schema)


def test_a_tool_without_arguments_needs_no_more_than_an_empty_schema() -> None:
    assert harmless({}) == {"type": "object"}
