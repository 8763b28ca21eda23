"""Reading permissions: what cannot be meant, or could never apply, is refused where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, cast

from chalicelib.core import matching
from chalicelib.core.errors import InvalidInput
from chalicelib.core.permissions import Grant, Ruling, to_data
from chalicelib.core.rule_text import Line, NotARule, read
from chalicelib.core.tools import Matching, Risk, ToolSpec

MAX_RULES = 100
MAX_VALUES = 100
MAX_VALUE = 1_000
MAX_CALLS = 1_000_000
MAX_BYTES = 64 * 1024
"""Of all rules together: they are kept as one item, and with each run."""

_TOOL = re.compile(r"[A-Za-z0-9_.*-]{1,128}")
_KNOWN = ("effect", "tool", "when", "limit", "preapproved")


def parse(given: Any, *, field: str, specs: Iterable[ToolSpec]) -> tuple[Grant, ...]:
    """The rules of a list of objects (`effect`, `tool`, `when`, `limit`, `preapproved`) or lines such as
    "allow http_get(host=*.acme.com, method=GET) max 50".

    `specs` are the tools that rules may be about. Raises `InvalidInput` (`invalid_permission`) with the path to what
    is wrong, which begins with `field`.
    """
    if not isinstance(given, list) or len(given) > MAX_RULES:
        _refuse("these are no rules", field, f"an array of at most {MAX_RULES} rules")
    known = tuple(specs)
    rules = tuple(_rule(each, f"{field}[{index}]", known) for index, each in enumerate(given))
    if len(json.dumps(to_data(rules)).encode()) > MAX_BYTES:
        _refuse("these rules are too long", field, f"at most {MAX_BYTES} bytes as JSON")
    return rules


def _rule(given: Any, at: str, specs: Sequence[ToolSpec]) -> Grant:
    if isinstance(given, str):
        return _line(given, at, specs)
    _check_names(given, at, _KNOWN)
    effect, tool = _effect(given.get("effect"), f"{at}.effect"), given.get("tool")
    about = _tools(tool, f"{at}.tool", specs)
    when = _when(given.get("when", {}), f"{at}.when", about)
    grant = Grant(
        effect,
        cast(str, tool),
        when,
        _calls(given.get("limit"), f"{at}.limit"),
        _preapproved(given, f"{at}.preapproved"),
    )
    _check_whole(grant, at, about)
    return grant


def _line(given: str, at: str, specs: Sequence[ToolSpec]) -> Grant:
    try:
        line = read(given)
        when = _conditions(line, at, _tools(line.tool, at, specs))
    except NotARule as fault:
        _refuse(str(fault), at, 'a line such as "allow http_get(host=*.acme.com) max 50"')
    limit = {"limit": {"calls": line.calls}} if line.calls is not None else {}
    full = {"effect": line.effect, "tool": line.tool, "when": when, "preapproved": line.preapproved, **limit}
    return _rule(full, at, specs)


def _conditions(line: Line, at: str, about: Sequence[ToolSpec]) -> dict[str, dict[str, Any]]:
    when: dict[str, dict[str, Any]] = {}
    for condition in line.conditions:
        matcher, wanted = condition.matcher(_kind(condition.field, at, about))
        if matcher in when.setdefault(condition.field, {}):
            _refuse("the same is said twice", at, f"one {matcher} for {condition.field}")
        when[condition.field][matcher] = wanted
    return when


def _effect(given: Any, at: str) -> Ruling:
    if not isinstance(given, str) or given not in set(Ruling):
        _refuse("there is no such effect", at, f"one of: {', '.join(Ruling)}")
    return Ruling(given)


def _tools(given: Any, at: str, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools that a rule is about."""
    about: tuple[ToolSpec, ...] = ()
    if isinstance(given, str) and _TOOL.fullmatch(given):
        about = tuple(spec for spec in specs if Grant(Ruling.ALLOW, given).names(spec.name))
    if not about:
        names = ", ".join(dict.fromkeys(spec.name for spec in specs)) or "none"
        _refuse("there is no such tool", at, f"a tool, or a pattern with * that meets some: {names}")
    return about


def _when(given: Any, at: str, about: Sequence[ToolSpec]) -> dict[str, dict[str, Any]]:
    if not isinstance(given, dict):
        _refuse("these are no conditions", at, "an object: field, matcher, value")
    return {name: _matchers(met, f"{at}.{name}", _kind(name, f"{at}.{name}", about)) for name, met in given.items()}


def _kind(name: str, at: str, about: Sequence[ToolSpec]) -> Matching:
    kinds = {spec.fields.get(name) for spec in about}
    if len(kinds) != 1 or None in kinds:
        shared = set.intersection(*({*spec.fields} for spec in about))
        same = sorted(field for field in shared if len({spec.fields[field] for spec in about}) == 1)
        _refuse("permissions cannot look at this field", at, f"one of: {', '.join(same)}" if same else "no condition")
    return cast(Matching, kinds.pop())


def _matchers(given: Any, at: str, kind: Matching) -> dict[str, Any]:
    if not isinstance(given, dict) or not given:
        _refuse("this is no condition", at, f"an object with some of: {', '.join(matching.MATCHERS[kind])}")
    _check_names(given, at, matching.MATCHERS[kind])
    return {matcher: _wanted(wanted, f"{at}.{matcher}", kind, matcher) for matcher, wanted in given.items()}


def _wanted(given: Any, at: str, kind: Matching, matcher: str) -> Any:
    if matcher not in matching.LISTS:
        return _one(given, at, kind, matcher)
    if not isinstance(given, list) or not 0 < len(given) <= MAX_VALUES:
        _refuse("this is no list of values", at, f"an array of 1 to {MAX_VALUES} values")
    return [_one(each, f"{at}[{index}]", kind, matcher) for index, each in enumerate(given)]


def _one(given: Any, at: str, kind: Matching, matcher: str) -> Any:
    try:
        if isinstance(given, str) and len(given) > MAX_VALUE:
            raise ValueError(f"at most {MAX_VALUE} characters")
        return matching.wanted(kind, matcher, given)
    except ValueError as expected:
        _refuse("this value cannot be matched", at, str(expected))


def _calls(given: Any, at: str) -> int | None:
    if given is None:
        return None
    _check_names(given, at, ("calls",))
    calls = given.get("calls")
    if type(calls) is not int or not 1 <= calls <= MAX_CALLS:
        _refuse("this is no number of calls", f"{at}.calls", f"a whole number from 1 to {MAX_CALLS}")
    return calls


def _preapproved(given: Mapping[str, Any], at: str) -> bool:
    preapproved = given.get("preapproved", False)
    if type(preapproved) is not bool:
        _refuse("this is neither true nor false", at, "true or false")
    return preapproved


def _check_whole(grant: Grant, at: str, about: Sequence[ToolSpec]) -> None:
    if grant.effect is Ruling.DENY and grant.calls is not None:
        _refuse("a denial needs no limit", f"{at}.limit", "no limit")
    if grant.preapproved and grant.effect is not Ruling.ALLOW:
        _refuse("only what is allowed can be preapproved", f"{at}.preapproved", "false")
    grave = [spec.name for spec in about if spec.risk is Risk.GRAVE]
    if grant.preapproved and grave and grant.calls is None:
        detail = f"nobody can take back what {grave[0]} does: it is preapproved only with a limit"
        _refuse(detail, f"{at}.limit", "the number of calls")


def _check_names(given: Any, at: str, known: Sequence[str]) -> None:
    if not isinstance(given, dict):
        _refuse("this is no object", at, f"an object with some of: {', '.join(known)}")
    for name in given:
        if name not in known:
            _refuse("there is no such name", f"{at}.{name[:100]}", f"one of: {', '.join(known)}")


def _refuse(detail: str, at: str, expected: str) -> NoReturn:
    raise InvalidInput("invalid_permission", detail, field=at, expected=expected)
