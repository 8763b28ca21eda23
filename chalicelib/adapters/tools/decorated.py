"""Tools out of plain Python functions: the schema from the type hints, the words from the docstring.

    @tool(effect=Effect.READ, open_world=False, marks=frozenset())
    def add(a: int, b: Annotated[int, "What is added."] = 1) -> str:
        \"\"\"Adds two numbers.

        Args:
            a: What it is added to.
        \"\"\"
        return str(a + b)

makes `add` a tool for a toolbox. What is not said about it is assumed at its worst.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from chalicelib.adapters.tools.toolbox import Tool, ToolProblem
from chalicelib.core.tools import Effect, Invocation, Mark, Matching, Risk, ToolResult, ToolSpec

Schema = dict[str, Any]

SCALARS: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}

_ARGS = re.compile(r"^Args:\n((?:[ \t]+.*(?:\n|$)|\n)+)", re.MULTILINE)
_ARG = re.compile(r"(\w+)(?:\s*\([^)]*\))?:\s*(.*)")


class Said(TypedDict, total=False):
    """The fields of a `ToolSpec` that the function itself does not say."""

    name: str
    effect: Effect
    timeout: float
    open_world: bool
    marks: frozenset[Mark]
    costs: bool
    at_least: Risk
    shown_bytes: int
    secrets: tuple[str, ...]
    fields: Mapping[str, Matching]


def tool(**said: Unpack[Said]) -> Callable[[Callable[..., Any]], Tool]:
    """Makes a function a tool. A parameter that is an `Invocation` is given the call. A result that is neither a string
    nor a `ToolResult` is told as JSON.

    Raises TypeError for a parameter that no schema describes, or a permission field that is no parameter.
    """

    def made(function: Callable[..., Any]) -> Tool:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        invoked = [name for name in parameters if hints.get(name) is Invocation]
        words, about = _docstring(function)
        schema = _object({name: each for name, each in parameters.items() if name not in invoked}, hints, about)
        if strange := [field for field in said.get("fields", {}) if field not in schema["properties"]]:
            raise TypeError(f"{strange[0]} is no parameter of {function.__name__}")
        spec = _spec(said.get("name", function.__name__), words, schema, said)

        def call(invocation: Invocation) -> str | ToolResult:
            args = {name: _cast(value, schema["properties"][name]) for name, value in invocation.call.args.items()}
            return _told(function(**args, **dict.fromkeys(invoked, invocation)))

        return spec, call

    return made


def _spec(name: str, words: str, schema: Schema, said: Said) -> ToolSpec:
    worst: Said = {"marks": frozenset(Mark)}
    given: dict[str, Any] = {**worst, **said, "name": name}
    return ToolSpec(description=words, parameters=schema, **given)


def _docstring(function: Callable[..., Any]) -> tuple[str, Mapping[str, str]]:
    """What the function does, and what it says about each parameter under `Args:`."""
    text = inspect.getdoc(function) or ""
    if not text:
        raise TypeError(f"{function.__name__} has no docstring to tell a model what it is for")
    found = _ARGS.search(text)
    if found is None:
        return text, {}
    about: dict[str, str] = {}
    last = ""
    for line in inspect.cleandoc(found[1]).splitlines():
        if (arg := _ARG.fullmatch(line)) is not None:
            last = arg[1]
            about[last] = arg[2]
        elif last and line.strip():
            about[last] = f"{about[last]} {line.strip()}".strip()
    return (text[: found.start()] + text[found.end() :]).strip(), about


def _object(parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any], about: Mapping[str, str]) -> Schema:
    properties: dict[str, Schema] = {}
    for name, parameter in parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints:
            raise TypeError(f"{name} must be a plain parameter with a type")
        described = {"description": about[name]} if name in about else {}
        properties[name] = {**_schema(hints[name], name), **described}
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _schema(hint: Any, name: str) -> Schema:
    """The schema of what the hint lets in."""
    if hint in SCALARS:
        return {"type": SCALARS[hint]}
    origin, args = get_origin(hint) or hint, get_args(hint)
    if origin is Annotated:
        words = [each for each in args[1:] if isinstance(each, str)]
        return {**_schema(args[0], name), **({"description": words[0]} if words else {})}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, name) for each in args]}
    return _container(origin, args, name)


def _container(origin: Any, args: tuple[Any, ...], name: str) -> Schema:
    if origin is list:
        return {"type": "array", **({"items": _schema(args[0], name)} if args else {})}
    if origin is dict and (not args or args[0] is str):
        return {"type": "object", **({"additionalProperties": _schema(args[1], name)} if args else {})}
    raise TypeError(f"{name} is a {origin!r}, which a model cannot give: only what JSON has")


def _cast(value: Any, schema: Schema) -> Any:
    """JSON has one kind of number: 2.0 is an integer to a schema, and must be one to Python."""
    if isinstance(value, list):
        return [_cast(each, schema.get("items", {})) for each in value]
    if isinstance(value, float) and value.is_integer() and schema.get("type") == "integer":
        return int(value)
    return value


def _told(result: Any) -> str | ToolResult:
    if isinstance(result, str | ToolResult):
        return result
    if isinstance(result, bytes | bytearray):
        raise ToolProblem(f"The tool brought {len(result)} bytes that are no text.")
    try:
        return json.dumps(result, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ToolProblem("The tool brought something that JSON cannot say.") from None
