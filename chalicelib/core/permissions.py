"""The rules of what a run may do: what one says, to which calls it applies, and how it is written down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from chalicelib.core import matching

_BARE = re.compile(r"[^\s,()|\"*<=]+")


class Ruling(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Grant:
    """One rule. `tool` is a name or a pattern with `*`; `when` holds, by permission field, what its value must meet.

    `calls` is how many calls of a run the rule allows. `preapproved`: calls that would be asked about for their risk
    are not.
    """

    effect: Ruling
    tool: str
    when: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: int | None = None
    preapproved: bool = False

    def names(self, tool: str) -> bool:
        """Whether the rule is about that tool."""
        return fnmatchcase(tool, self.tool)

    def applies(self, tool: str, fields: Mapping[str, Any]) -> bool:
        """Whether the rule is about that call. `fields` are canonical.

        Of several values, a rule that allows must be met by all, and one that asks or denies by any.
        """
        quantifier: Callable[[Iterable[bool]], bool] = all if self.effect is Ruling.ALLOW else any
        return self.names(tool) and all(
            name in fields and _met(matchers, fields[name], quantifier) for name, matchers in self.when.items()
        )


Layer = Sequence[Grant]
"""The rules of one who has a say: the account, the agent or the run. Without rules, it has none."""


def _met(matchers: Mapping[str, Any], value: Any, quantifier: Callable[[Iterable[bool]], bool]) -> bool:
    values = value if isinstance(value, list) else [value]
    return bool(values) and quantifier(
        all(matching.meets(matcher, wanted, each) for matcher, wanted in matchers.items()) for each in values
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ruling, and what it follows from, a line each: the rules that applied, and why a person is asked."""

    ruling: Ruling
    rule: str


def text(grant: Grant) -> str:
    """The rule in one line, as `grants.parse` reads it. No two rules that differ have the same text."""
    parts = [f"{grant.effect} {grant.tool}"]
    if conditions := [_condition(name, *each) for name, met in grant.when.items() for each in met.items()]:
        parts[0] += f"({', '.join(conditions)})"
    if grant.calls is not None:
        parts.append(f"max {grant.calls}")
    return " ".join([*parts, "preapproved"] if grant.preapproved else parts)


def _condition(name: str, matcher: str, wanted: Any) -> str:
    if matcher == "max":
        return f"{name}<={wanted}"
    if matcher == "prefix":
        return f"{name}={_value(wanted)}*"
    if matcher == "path_under":
        return f"{name}={_value(wanted.rstrip('/') + '/')}*"
    if matcher == "host_in":
        return f"{name}={'|'.join(wanted)}"
    return f"{name}={'|'.join(map(_value, wanted if matcher == 'in' else [wanted]))}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) and _BARE.fullmatch(value) else json.dumps(value)


def to_data(grants: Iterable[Grant]) -> list[dict[str, Any]]:
    """The rules as JSON, in the shape that `grants.parse` reads."""
    return [_data(grant) for grant in grants]


def _data(grant: Grant) -> dict[str, Any]:
    when = {name: dict(matchers) for name, matchers in grant.when.items()}
    return {
        "effect": str(grant.effect),
        "tool": grant.tool,
        **({"when": when} if when else {}),
        **({"limit": {"calls": grant.calls}} if grant.calls is not None else {}),
        **({"preapproved": True} if grant.preapproved else {}),
    }


def of_data(data: Iterable[Mapping[str, Any]]) -> tuple[Grant, ...]:
    """The rules that `to_data` wrote; what was checked once is not checked again."""
    return tuple(
        Grant(
            Ruling(each["effect"]),
            each["tool"],
            each.get("when", {}),
            each.get("limit", {}).get("calls"),
            each.get("preapproved", False),
        )
        for each in data
    )
