"""The schema of a tool as a stranger's server gives it, made into one that can do no harm.

Only keywords that are known, of the right form, and cheap to check are kept: no regular expressions, which can take for
ever on a short text, and no references, which can make much out of little. References within the schema are replaced by
what they refer to, as far as there is room. What is left out here is still for the server to check.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

MAX_BYTES = 16 * 1024
MAX_DEPTH = 24
"""Schemas within schemas, after references were replaced."""
MAX_SCHEMAS = 1_000
"""In one schema, after references were replaced."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
HOLD_ONE = frozenset({"additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else"})
HOLD_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
HOLD_NAMED = frozenset({"properties", "dependentSchemas"})


class UnusableSchema(ValueError):  # noqa: N818 - named by what it is
    """It cannot be made harmless; the text says why."""


def harmless(schema: Any) -> dict[str, Any]:
    """A schema of an object, no larger than the bounds above. Raises `UnusableSchema`."""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise UnusableSchema("it is no schema of an object")
    made = _Cleaning(schema).schema(schema, MAX_DEPTH)
    cleaned = {"type": "object", **made} if isinstance(made, dict) else {"type": "object"}
    if len(json.dumps(cleaned).encode()) > MAX_BYTES:
        raise UnusableSchema(f"it has more than {MAX_BYTES} bytes")
    return cleaned


class _Cleaning:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = MAX_SCHEMAS

    def schema(self, value: Any, depth: int) -> dict[str, Any] | bool:
        """`depth` is how many more schemas may lie within one another."""
        self._left -= 1
        if depth < 0 or self._left < 0:
            raise UnusableSchema("it is too large, too deep, or refers to itself")
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            raise UnusableSchema("it holds something that is no schema")
        cleaned = {
            keyword: made
            for keyword, given in value.items()
            if (made := self._keyword(keyword, given, depth - 1)) is not None
        }
        return self._with_reference(cleaned, value, depth - 1)

    def _keyword(self, keyword: str, given: Any, depth: int) -> Any:
        """What is kept of a keyword, None if nothing."""
        if keyword in HOLD_ONE and isinstance(given, dict | bool):
            return self.schema(given, depth)
        if keyword in HOLD_LIST and isinstance(given, list) and given:
            return [self.schema(each, depth) for each in given]
        if keyword in HOLD_NAMED and isinstance(given, dict):
            return {name: self.schema(each, depth) for name, each in given.items()}
        return given if keyword in _PLAIN and _PLAIN[keyword](given) else None

    def _with_reference(self, cleaned: dict[str, Any], value: Mapping[str, Any], depth: int) -> dict[str, Any] | bool:
        if "$ref" not in value:
            return cleaned
        referred = self.schema(self._referred(value["$ref"]), depth)
        return {**cleaned, "allOf": [*cleaned.get("allOf", []), referred]} if cleaned else referred

    def _referred(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise UnusableSchema("it refers to something outside of itself")
        found: Any = self._root
        for part in reference[1:].split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise UnusableSchema("it refers to something that is not there")
            found = found[name]
        return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_scalars(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(each is None or _is_scalar(each) for each in value)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


_PLAIN: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "format"), _is_text),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("const", "default"), _is_scalar),
    **dict.fromkeys(("enum", "examples"), _is_scalars),
    "required": _is_names,
    "type": _is_type,
}
"""Keywords that hold no schema, and what they must be to be kept."""
