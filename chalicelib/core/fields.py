"""What a JSON value says, field by field; whatever it says wrongly is refused with the path where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from chalicelib.core.errors import InvalidInput

KINDS: Mapping[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "an array",
}


def fields(value: Any, within: str, required: Mapping[str, type], optional: Mapping[str, type]) -> dict[str, Any]:
    """The fields of an object, checked; `within` is where it stands, for the names in problems ("budget.")."""
    check_type(value, within.rstrip(".") or None, dict)
    known = {**required, **optional}
    present = {name: given for name, given in value.items() if given is not None or name not in optional}
    for name, given in present.items():
        if name not in known:
            raise unknown(within + name, known)
        check_type(given, within + name, known[name])
    for name in required:
        if name not in present:
            raise InvalidInput(
                "missing_field", "a field is missing", field=within + name, expected=KINDS[required[name]]
            )
    return present


def unknown(name: str, known: Iterable[str]) -> InvalidInput:
    """What is said of a field that nobody knows."""
    expected = ", ".join(known)
    detail = "there is no such field"
    return InvalidInput(
        "unknown_field", detail, field=name[:100], expected=f"one of: {expected}" if expected else "none"
    )


def check_type(value: Any, field: str | None, kind: type) -> None:
    """Raises `InvalidInput` for a value of another type; a whole number is a number, and true is neither."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise InvalidInput("wrong_type", f"this must be {KINDS[kind]}", field=field, expected=KINDS[kind])


def check_text(text: str, field: str, most: int) -> None:
    """Some text of at most `most` bytes of UTF-8."""
    if not text.strip():
        raise InvalidInput("text_empty", "there is nothing in it", field=field, expected="some text")
    size = len(text.encode())
    if size > most:
        expected = f"at most {most} bytes of UTF-8"
        raise InvalidInput("text_too_long", f"it has {size} bytes", field=field, expected=expected)


def check_range(value: float, field: str, low: float, high: float) -> None:
    """A number from `low` to `high`."""
    if not low <= value <= high:
        raise InvalidInput("out_of_range", f"{value} is out of range", field=field, expected=f"from {low} to {high}")


def check_word(value: Any, field: str, words: Iterable[str]) -> None:
    """One of some words."""
    known = tuple(words)
    if value not in known:
        expected = f"one of: {', '.join(known)}"
        raise InvalidInput("unknown_word", f"{value!r:.80} is none of them", field=field, expected=expected)


def check_form(value: Any, field: str, form: re.Pattern[str], expected: str) -> None:
    """A string of that form."""
    check_type(value, field, str)
    if form.fullmatch(value) is None:
        raise InvalidInput("wrong_form", f"{value!r:.80} is none", field=field, expected=expected)


def check_count(values: Iterable[Any], field: str, most: int) -> None:
    """At most so many, and none of them twice."""
    seen: list[Any] = []
    for place, value in enumerate(values):
        if place >= most:
            raise InvalidInput("too_many", f"there are more than {most}", field=field, expected=f"at most {most}")
        if value in seen:
            raise InvalidInput(
                "named_twice", f"{value!r:.80} is there twice", field=f"{field}[{place}]", expected="once"
            )
        seen.append(value)
