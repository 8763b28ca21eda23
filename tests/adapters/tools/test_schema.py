"""What may not reach a tool is told to the model in a sentence with its place."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.tools.schema import MAX_BYTES, MAX_DEPTH, arguments_problem

ANYTHING: dict[str, Any] = {"type": "object"}
LETTER = {
    "type": "object",
    "properties": {
        "to": {"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 1},
        "at": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "link": {"type": "string", "format": "uri"},
        "copies": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["to"],
    "additionalProperties": False,
}


def nested(depth: int) -> Any:
    value: Any = "x"
    for index in range(depth):
        value = [value] if index % 2 else {"a": value}
    return value


def test_what_fits_its_schema_has_no_problem() -> None:
    args = {
        "to": ["a@b.example"],
        "at": "2026-01-01T00:00:00Z",
        "day": "2026-01-01",
        "link": "https://a.b",
        "copies": 9,
    }
    assert arguments_problem(args, LETTER) is None


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "The arguments: 'to' is a required property."),
        ({"to": []}, "to: [] should be non-empty."),
        ({"to": ["a@b.example", "nobody"]}, "to[1]: 'nobody' is not a 'email'."),
        (
            {"to": ["a@b.example"], "cc": 1},
            "The arguments: Additional properties are not allowed ('cc' was unexpected).",
        ),
        ({"to": ["a@b.example"], "copies": 0}, "copies: 0 is less than the minimum of 1."),
        ({"to": ["a@b.example"], "copies": True}, "copies: True is not of type 'integer'."),
        ({"to": ["a@b.example"], "at": "tomorrow"}, "at: 'tomorrow' is not a 'date-time'."),
        ({"to": ["a@b.example"], "at": "2026-01-01T00:00:00"}, "at: '2026-01-01T00:00:00' is not a 'date-time'."),
        ({"to": ["a@b.example"], "day": "2026-02-30"}, "day: '2026-02-30' is not a 'date'."),
        ({"to": ["a@b.example"], "link": "//x"}, "link: '//x' is not a 'uri'."),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(args: dict[str, Any], said: str) -> None:
    assert arguments_problem(args, LETTER) == said


def test_a_message_about_a_long_value_is_short() -> None:
    problem = arguments_problem({"to": "x" * 50_000}, LETTER)
    assert problem is not None
    assert problem.startswith("to: 'xxx")
    assert problem.endswith("xxx' is not of type 'array'.")
    assert len(problem) < 500


def test_arguments_are_as_large_as_is_said_and_no_larger() -> None:
    around = len('{"a": ""}')
    assert arguments_problem({"a": "é" * ((MAX_BYTES - around) // 2)}, ANYTHING) is None
    problem = arguments_problem({"a": "x" * (MAX_BYTES - around + 1)}, ANYTHING)
    assert problem == f"The arguments have {MAX_BYTES + 1} bytes; at most {MAX_BYTES} are taken."


def test_arguments_are_as_deep_as_is_said_and_no_deeper() -> None:
    assert arguments_problem({"a": nested(MAX_DEPTH - 1)}, ANYTHING) is None
    problem = arguments_problem({"a": nested(MAX_DEPTH)}, ANYTHING)
    assert problem is not None
    assert "is too deep: at most 32" in problem


def test_very_deep_arguments_are_no_trouble() -> None:
    assert "too deep" in (arguments_problem({"a": nested(100_000)}, ANYTHING) or "")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2**53 + 1, "a.b[0] is a whole number beyond 2^53; give it as a string if the tool takes one."),
        (-(2**60), "a.b[0] is a whole number beyond 2^53; give it as a string if the tool takes one."),
        (float("nan"), "a.b[0] is no number that JSON has."),
        (float("inf"), "a.b[0] is no number that JSON has."),
        ("\ud83d", "a.b[0] holds half of a character (a lone surrogate)."),
        ({"\ud83d": 1}, "a.b[0].? holds half of a character (a lone surrogate)."),
    ],
)
def test_f16_what_readers_of_json_would_not_read_alike_is_refused(value: Any, said: str) -> None:
    assert arguments_problem({"a": {"b": [value]}}, ANYTHING) == said


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e300, 0.1, True, None])
def test_what_they_read_alike_is_taken(value: Any) -> None:
    assert arguments_problem({"a": value}, ANYTHING) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/$defs/nothing"}}},
        {"properties": {"a": {"multipleOf": 10**400}}},
        {"title": "no schema", "properties": {"a": {"$ref": "#/title"}}},
        {"x": [7], "properties": {"a": {"$ref": "#/x/0"}}},
        {"x": [7], "properties": {"a": {"$ref": "#/x/y"}}},
    ],
)
def test_a_schema_that_cannot_be_used_refuses_its_tool_and_is_no_crash(
    schema: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert arguments_problem({"a": 1.5}, schema) == (
        "The tool's own schema is broken, so that no call of it can be checked; do without this tool."
    )
    assert "a tool's schema is broken: " in caplog.text


def test_nothing_is_fetched_for_a_schema(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "object"}')
    with warnings.catch_warnings(action="ignore"):
        problem = arguments_problem({"a": 1}, {"$ref": file.as_uri()})
    assert problem is not None
    assert "schema is broken" in problem
