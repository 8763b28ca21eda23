"""Declared tools as JSON: what an account may write, how it is kept, and the values made of it.

`check` is for what comes from outside; `read` takes what passed it once, whatever `check` has become since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from chalicelib.core import json_schema, mcp, rule_text
from chalicelib.core.declared import SERVER_NAME, DeclaredTool, LambdaTool, McpOverride, McpServer, OutsideTool
from chalicelib.core.errors import InvalidInput
from chalicelib.core.fields import check_count, check_form, check_range, check_text, check_type, check_word, fields
from chalicelib.core.tools import Answers, Effect, Mark, Matching, Risk, ToolSpec

MAX_DECLARED = 32
MAX_DESCRIPTION = 4 * 1024
MAX_TIMEOUT = 600.0
"""Seconds; a call ends well within its Lambda."""
MAX_OUTSIDE_TIMEOUT = 7 * 24 * 3600.0
OUTSIDE_TIMEOUT = 24 * 3600.0
SHOWN_BYTES = (1024, 64 * 1024)
MAX_SECRETS = 8
MAX_FIELDS = 32
MAX_OVERRIDES = 64
MAX_URL = 2_048

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
NAME_FORM = "a letter, then at most 63 letters, digits, _ or -"
_SERVER_FORM = "1 to 24 letters, digits or -"
_SECRET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SECRET_FORM = "1 to 64 letters, digits, _, . or -, the first a letter or digit"
_FUNCTION = re.compile(
    r"(arn:aws[a-z-]*:lambda:[a-z0-9-]{1,32}:[0-9]{12}:function:)?[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9_$-]{1,128})?"
)
_FUNCTION_FORM = "a function's name or ARN, with or without a qualifier"
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}")
_ROLE_FORM = "the ARN of a role"
_MCP_TOOL = re.compile(r"[\x21-\x7e]{1,256}")
_MCP_TOOL_FORM = "1 to 256 printable ASCII characters without spaces"
_PRINTABLE = re.compile(r"[\x21-\x5b\x5d-\x7e]+")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

RISKS = {risk.name.lower(): risk for risk in Risk}

_SPEC: Mapping[str, type] = {
    "effect": str,
    "timeout": float,
    "open_world": bool,
    "marks": list,
    "costs": bool,
    "at_least": str,
    "shown_bytes": int,
    "secrets": list,
    "fields": dict,
}
_NAMED: Mapping[str, type] = {"kind": str, "name": str, "description": str, "parameters": dict}
_OVERRIDE: Mapping[str, type] = {"effect": str, "open_world": bool, "at_least": str, "timeout": float}


@dataclass(frozen=True, slots=True)
class _Kind:
    required: Mapping[str, type]
    optional: Mapping[str, type]


KINDS: Mapping[str, _Kind] = {
    "lambda": _Kind({**_NAMED, "function": str}, {**_SPEC, "role": str}),
    "outside": _Kind(_NAMED, _SPEC),
    "mcp": _Kind({"kind": str, "name": str, "url": str}, {"secret": str, "tools": dict}),
}


def check(declared: Sequence[Any], within: str, *, loopback: bool) -> None:
    """Raises `InvalidInput` with the path of what is wrong. `loopback`: MCP servers may be this machine's own."""
    for place, each in enumerate(declared):
        _check_one(each, f"{within}[{place}]", loopback)
    check_count([each["name"] for each in declared], within, MAX_DECLARED)


def _check_one(each: Any, where: str, loopback: bool) -> None:
    check_type(each, where, dict)
    if "kind" not in each:
        raise InvalidInput("missing_field", "a field is missing", field=f"{where}.kind", expected="a string")
    check_word(each["kind"], f"{where}.kind", KINDS)
    kind = KINDS[each["kind"]]
    given = fields(each, f"{where}.", kind.required, kind.optional)
    if given["kind"] == "mcp":
        check_form(given["name"], f"{where}.name", SERVER_NAME, _SERVER_FORM)
        _check_server(given, where, loopback)
    else:
        _check_name(given["name"], f"{where}.name")
        _check_spec(given, where, MAX_OUTSIDE_TIMEOUT if given["kind"] == "outside" else MAX_TIMEOUT)
    _check_forms(given, where, {"function": (_FUNCTION, _FUNCTION_FORM), "role": (_ROLE, _ROLE_FORM)})


def _check_name(name: str, field: str) -> None:
    """A name that no server's tool could have."""
    check_form(name, field, NAME, NAME_FORM)
    if mcp.server_of(name) is not None:
        expected = f"a name without {mcp.BETWEEN}"
        raise InvalidInput("wrong_form", f"{name!r} would be a server's tool", field=field, expected=expected)


def _check_spec(given: Mapping[str, Any], where: str, longest: float) -> None:
    check_text(given["description"], f"{where}.description", MAX_DESCRIPTION)
    json_schema.check(given["parameters"], f"{where}.parameters")
    _check_nature(given, where, longest)
    for name in ("marks", "secrets"):
        check_count(given.get(name, ()), f"{where}.{name}", MAX_SECRETS)
    for place, mark in enumerate(given.get("marks", ())):
        check_word(mark, f"{where}.marks[{place}]", Mark)
    for place, secret in enumerate(given.get("secrets", ())):
        check_form(secret, f"{where}.secrets[{place}]", _SECRET, _SECRET_FORM)
    if "shown_bytes" in given:
        check_range(given["shown_bytes"], f"{where}.shown_bytes", *SHOWN_BYTES)
    _check_matching(given, where)


def _check_nature(given: Mapping[str, Any], where: str, longest: float) -> None:
    """What a spec and an override of one have in common."""
    if "effect" in given:
        check_word(given["effect"], f"{where}.effect", Effect)
    if "at_least" in given:
        check_word(given["at_least"], f"{where}.at_least", RISKS)
    if "timeout" in given:
        check_range(given["timeout"], f"{where}.timeout", 1, longest)


def _check_matching(given: Mapping[str, Any], where: str) -> None:
    """A field that permissions may look at is an argument that the schema knows, and that a line can name: by their
    lines rules are told apart."""
    matching = given.get("fields", {})
    check_count(matching, f"{where}.fields", MAX_FIELDS)
    arguments = given["parameters"].get("properties", {})
    for name, how in matching.items():
        check_word(name, f"{where}.fields", arguments)
        check_form(name, f"{where}.fields", rule_text.FIELD, rule_text.FIELD_FORM)
        check_word(how, f"{where}.fields.{name}", Matching)


def _check_server(given: Mapping[str, Any], where: str, loopback: bool) -> None:
    _check_url(given["url"], f"{where}.url", loopback)
    _check_forms(given, where, {"secret": (_SECRET, _SECRET_FORM)})
    overrides = given.get("tools", {})
    check_count(overrides, f"{where}.tools", MAX_OVERRIDES)
    for name, override in overrides.items():
        check_form(name, f"{where}.tools", _MCP_TOOL, _MCP_TOOL_FORM)
        here = f"{where}.tools.{name}"
        _check_nature(fields(override, f"{here}.", {}, _OVERRIDE), here, MAX_TIMEOUT)


def _check_forms(given: Mapping[str, Any], where: str, forms: Mapping[str, tuple[re.Pattern[str], str]]) -> None:
    for name, (form, expected) in forms.items():
        if name in given:
            check_form(given[name], f"{where}.{name}", form, expected)


def _check_url(url: str, field: str, loopback: bool) -> None:
    expected = f"an https URL of at most {MAX_URL} characters, without credentials and fragment"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InvalidInput("invalid_url", "this is no URL", field=field, expected=expected) from None
    odd = len(url) > MAX_URL or not _PRINTABLE.fullmatch(url) or "@" in parts.netloc or "#" in url
    if odd or not host or parts.scheme not in ("https", "http"):
        raise InvalidInput("invalid_url", "this is no URL that can be meant", field=field, expected=expected)
    if parts.scheme == "http" and not (loopback and host in _LOOPBACK):
        raise InvalidInput(
            "url_not_https", "what is said to the server must be encrypted", field=field, expected=expected
        )


def read(declared: Sequence[Mapping[str, Any]]) -> tuple[DeclaredTool, ...]:
    """The tools, of data that `check` let through."""
    return tuple(map(_read_one, declared))


def _read_one(data: Mapping[str, Any]) -> DeclaredTool:
    match data["kind"]:
        case "lambda":
            return LambdaTool(_spec(data), data["function"], data.get("role"))
        case "outside":
            return OutsideTool(_spec({"timeout": OUTSIDE_TIMEOUT, **_there(data)}, answers=Answers.OUTSIDE))
        case _:
            tools = {name: McpOverride(**_nature(_there(each))) for name, each in (data.get("tools") or {}).items()}
            return McpServer(data["name"], data["url"], data.get("secret"), tools)


def _there(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}


def _spec(data: Mapping[str, Any], answers: Answers = Answers.TOOL) -> ToolSpec:
    given = _there(data)
    spec = _nature({name: given[name] for name in _SPEC if name in given})
    spec["marks"] = frozenset(Mark(mark) for mark in spec.get("marks", ()))
    spec["secrets"] = tuple(spec.get("secrets", ()))
    spec["fields"] = {name: Matching(how) for name, how in spec.get("fields", {}).items()}
    return ToolSpec(given["name"], given["description"], given["parameters"], answers=answers, **spec)


def _nature(given: Mapping[str, Any]) -> dict[str, Any]:
    kinds: Mapping[str, Callable[[Any], Any]] = {"effect": Effect, "at_least": RISKS.__getitem__, "timeout": float}
    return {name: kinds[name](value) if name in kinds else value for name, value in given.items()}


def data(declared: Sequence[DeclaredTool]) -> list[dict[str, Any]]:
    """The tools as JSON, with nothing left to a default; `read` makes the same of it."""
    return [_data_of(each) for each in declared]


def _data_of(tool: DeclaredTool) -> dict[str, Any]:
    match tool:
        case LambdaTool(spec, function, role):
            return {"kind": "lambda", **_spec_data(spec), "function": function, "role": role}
        case OutsideTool(spec):
            return {"kind": "outside", **_spec_data(spec)}
        case McpServer(name, url, secret, tools):
            overrides = {each: _override_data(override) for each, override in sorted(tools.items())}
            return {"kind": "mcp", "name": name, "url": url, "secret": secret, "tools": overrides}


def _spec_data(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
        "effect": spec.effect,
        "timeout": spec.timeout,
        "open_world": spec.open_world,
        "marks": sorted(spec.marks),
        "costs": spec.costs,
        "at_least": spec.at_least.name.lower(),
        "shown_bytes": spec.shown_bytes,
        "secrets": list(spec.secrets),
        "fields": dict(spec.fields),
    }


def _override_data(override: McpOverride) -> dict[str, Any]:
    return {
        "effect": override.effect,
        "open_world": override.open_world,
        "at_least": override.at_least.name.lower(),
        "timeout": override.timeout,
    }
