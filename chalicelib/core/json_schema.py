"""Whether what is given as a JSON Schema is one (2020-12): bounded, and of the form that its own vocabulary asks for.

What no vocabulary knows is an annotation, and may say what it likes. A reference stays inside its document: nobody
fetches one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import check_type
from chalicelib.core.matching import LARGEST_EXACT

MAX_BYTES = 16 * 1024
MAX_DEPTH = 24
"""Of the JSON, containers within containers: no walk over a schema runs out of stack."""

Check = Callable[[Any, str], None]

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check(schema: Any, field: str) -> None:
    """A schema of an object, as tools take their arguments. Raises `InvalidInput` with the path of what is wrong."""
    check_type(schema, field, dict)
    if _depth(schema, MAX_DEPTH) > MAX_DEPTH:
        expected = f"at most {MAX_DEPTH} containers within one another"
        raise InvalidInput("schema_too_deep", "the schema is nested too deeply", field=field, expected=expected)
    size = len(json.dumps(schema).encode())
    if size > MAX_BYTES:
        expected = f"at most {MAX_BYTES} bytes of JSON"
        raise InvalidInput("schema_too_large", f"it has {size} bytes", field=field, expected=expected)
    if schema.get("type") != "object":
        raise _invalid(f"{field}.type", "object")
    _check_numbers(schema, field)
    _check_schema(schema, field)
    _check_references(schema, field)


def _depth(value: Any, most: int) -> int:
    """How deep the containers go, not looked at beyond `most`."""
    if most < 0 or not isinstance(value, (dict, list)):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(each, most - 1) for each in inside), default=0)


def _check_numbers(value: Any, field: str) -> None:
    """Wherever a number stands, it is one that every reader of JSON reads alike, and can reckon with."""
    if isinstance(value, (dict, list)):
        for step, each in value.items() if isinstance(value, dict) else enumerate(value):
            _check_numbers(each, f"{field}.{step}" if isinstance(value, dict) else f"{field}[{step}]")
    elif (isinstance(value, int) and abs(value) > LARGEST_EXACT) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise _invalid(field, "a number that JSON has, and a whole one of at most 2^53")


def _check_schema(schema: Any, field: str) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise _invalid(field, "a schema: an object, true or false")
    for keyword, value in schema.items():
        if keyword in KEYWORDS:
            KEYWORDS[keyword](value, f"{field}.{keyword}")


def _check_schemas(value: Any, field: str) -> None:
    if not isinstance(value, list) or not value:
        raise _invalid(field, "an array of at least one schema")
    for place, each in enumerate(value):
        _check_schema(each, f"{field}[{place}]")


def _check_named(value: Any, field: str) -> None:
    if not isinstance(value, dict):
        raise _invalid(field, "an object of schemas")
    for name, each in value.items():
        _check_schema(each, f"{field}.{name}")


def _check_patterns(value: Any, field: str) -> None:
    _check_named(value, field)
    for pattern in value:
        _check_pattern(pattern, f"{field}.{pattern}")


def _check_pattern(value: Any, field: str) -> None:
    try:
        re.compile(value)
    except (re.error, TypeError, RecursionError, OverflowError):
        raise _invalid(field, "a regular expression") from None


def _check_type(value: Any, field: str) -> None:
    names = value if isinstance(value, list) else [value]
    if not names or any(name not in TYPES for name in names) or _repeats(names):
        raise _invalid(field, f"one or more of: {', '.join(TYPES)}")


def _check_required(value: Any, field: str) -> None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value) or _repeats(value):
        raise _invalid(field, "an array of names, none of them twice")


def _check_dependent(value: Any, field: str) -> None:
    if not isinstance(value, dict):
        raise _invalid(field, "an object of arrays of names")
    for name, each in value.items():
        _check_required(each, f"{field}.{name}")


def _check_reference(value: Any, field: str) -> None:
    if not isinstance(value, str) or not value.startswith("#"):
        raise _invalid(field, "a reference within the schema, such as #/$defs/name")


def _check_references(root: Mapping[str, Any], field: str) -> None:
    """Each leads to a schema, which may stand where nothing else looks for one."""
    left: list[Any] = [root]
    followed: set[str] = set()
    while left:
        schema = left.pop()
        left += _inside(schema)
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if reference is not None and reference not in followed:
            followed.add(reference)
            try:
                found = _referred(root, reference)
            except LookupError:
                raise _invalid(field, f"references that lead somewhere, other than {reference!r:.80}") from None
            _check_schema(found, f"{field}{reference.removeprefix('#').replace('/', '.')}")
            left.append(found)


def _referred(root: Any, reference: str) -> Any:
    """What stands there. Raises `LookupError`."""
    if reference != "#" and not reference.startswith("#/"):
        raise LookupError(reference)
    for step in unquote(reference[2:]).split("/") if len(reference) > 1 else ():
        if isinstance(root, list) and step.isascii() and step.isdecimal():
            root = root[int(step[:9])]
        elif isinstance(root, dict):
            root = root[step.replace("~1", "/").replace("~0", "~")]
        else:
            raise LookupError(reference)
    return root


def _inside(schema: Any) -> Iterable[Any]:
    """The schemas right within one that was checked."""
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        match KEYWORDS.get(keyword):
            case check if check is _check_schema:
                yield value
            case check if check is _check_schemas:
                yield from value
            case check if check in (_check_named, _check_patterns):
                yield from value.values()


def _refuse(value: Any, field: str) -> None:
    raise _invalid(field, "a schema without it: what it names would be looked for elsewhere")


def _repeats(values: list[Any]) -> bool:
    return any(each in values[:place] for place, each in enumerate(values))


def _is(kind: type | tuple[type, ...], expected: str, holds: Callable[[Any], bool] = lambda _: True) -> Check:
    """A check for a value of that type; true is no number."""

    def check_value(value: Any, field: str) -> None:
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not fits or not holds(value):
            raise _invalid(field, expected)

    return check_value


_text = _is(str, "a string")
_flag = _is(bool, "true or false")
_number = _is((int, float), "a number")
_count = _is(int, "a whole number, 0 or more", lambda value: value >= 0)

KEYWORDS: Mapping[str, Check] = {
    **dict.fromkeys(("title", "description", "format", "$comment", "contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), _check_schemas),
    **dict.fromkeys(("properties", "$defs", "definitions", "dependentSchemas"), _check_named),
    **dict.fromkeys(("items", "contains", "additionalProperties", "propertyNames", "not"), _check_schema),
    **dict.fromkeys(
        ("if", "then", "else", "unevaluatedItems", "unevaluatedProperties", "contentSchema"), _check_schema
    ),
    **dict.fromkeys(("enum", "examples"), _is(list, "an array")),
    "type": _check_type,
    "required": _check_required,
    "dependentRequired": _check_dependent,
    "pattern": _check_pattern,
    "patternProperties": _check_patterns,
    "multipleOf": _is((int, float), "a number above 0", lambda value: value > 0),
    "$ref": _check_reference,
    "$schema": _text,
    **dict.fromkeys(("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"), _refuse),
}


def _invalid(field: str, expected: str) -> InvalidInput:
    return InvalidInput("invalid_schema", "this is no JSON Schema", field=field[:200], expected=expected)
