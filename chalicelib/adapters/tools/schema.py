"""Checking the arguments of a call: their size and depth first, then what JSON can carry, then the tool's schema.

jsonschema takes long to import, so that it is imported when the first call is to be checked.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.core.mail import ADDRESS
from chalicelib.core.matching import LARGEST_EXACT

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import ValidationError

logger = logging.getLogger(__name__)

MAX_BYTES = 64 * 1024
"""Of the arguments as JSON in UTF-8."""
MAX_DEPTH = 32
"""Arrays and objects within one another."""
LONGEST_SENTENCE = 400

PLAIN_FORMATS = ("date", "uuid", "ipv4", "ipv6")

Path = tuple[str | int, ...]


def arguments_problem(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments, in one sentence for the model with the path to it; None if nothing is."""
    return _bounds_problem(args) or _schema_problem(args, schema)


def _bounds_problem(args: Mapping[str, Any]) -> str | None:
    for path, value, depth in _walk(args):
        if depth > MAX_DEPTH:
            return f"{_place(path[:3])} is too deep: at most {MAX_DEPTH} arrays and objects may lie within one another."
        if (odd := _odd(value)) is not None:
            return f"{_place(path)} {odd}."
    size = len(json.dumps(args, ensure_ascii=False).encode())
    return f"The arguments have {size} bytes; at most {MAX_BYTES} are taken." if size > MAX_BYTES else None


def _walk(args: Mapping[str, Any]) -> Iterator[tuple[Path, Any, int]]:
    """Every value, and every name of one, with its path and the containers around it, itself included; without
    recursion, which a deep value could use up."""
    left: list[tuple[Path, Any, int]] = [((), args, 0)]
    while left:
        path, value, around = left.pop()
        depth = around + isinstance(value, dict | list)
        yield path, value, depth
        if isinstance(value, dict):
            left += [((*path, name), name, depth) for name in value]
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        left += [((*path, step), each, depth) for step, each in inside]


def _odd(value: Any) -> str | None:
    """What makes a value one that not every reader of JSON would read alike."""
    if isinstance(value, float) and not math.isfinite(value):
        return "is no number that JSON has"
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return "is a whole number beyond 2^53; give it as a string if the tool takes one"
    if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
        return "holds half of a character (a lone surrogate)"
    return None


def _schema_problem(args: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_validator(json.dumps(schema, sort_keys=True)).iter_errors(args))
    # The schema is a stranger's, and the library has no error of its own for much that may be wrong with one: it
    # raises whatever it stumbles over. No run may end by that.
    except Exception as fault:
        logger.warning("a tool's schema is broken: %s: %.200s", type(fault).__name__, fault)
        return "The tool's own schema is broken, so that no call of it can be checked; do without this tool."
    return _sentence(error) if error else None


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    parsed = json.loads(schema)
    Draft202012Validator.check_schema(parsed)
    # A registry of one's own: the default one fetches what a schema refers to, from any URL, files of this machine too.
    return Draft202012Validator(parsed, registry=Registry(), format_checker=_formats())


@lru_cache(maxsize=1)
def _formats() -> FormatChecker:
    """The formats that are held to, the same on every machine: by itself jsonschema checks what it finds installed."""
    from jsonschema import FormatChecker

    checker = FormatChecker(PLAIN_FORMATS)
    checker.checks("date-time", ValueError)(_is_moment)
    checker.checks("email")(lambda value: not isinstance(value, str) or ADDRESS.fullmatch(value) is not None)
    checker.checks("uri", ValueError)(lambda value: not isinstance(value, str) or bool(urlsplit(value).scheme))
    return checker


def _is_moment(value: Any) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def _sentence(error: ValidationError) -> str:
    """A message quotes the value first and says at its end what is wrong with it: of a long one both ends are told."""
    said = error.message
    short = (
        said if len(said) <= LONGEST_SENTENCE else f"{said[: LONGEST_SENTENCE // 2]}…{said[-LONGEST_SENTENCE // 2 :]}"
    )
    return f"{_place(tuple(error.absolute_path))}: {short}."


def _place(path: Path) -> str:
    """Where, as one would write it: `to[1].name`."""
    if not path:
        return "The arguments"
    steps = (f"[{step}]" if isinstance(step, int) else f".{step[:80]}" for step in path[:MAX_DEPTH])
    return "".join(steps).removeprefix(".").encode(errors="replace").decode()
