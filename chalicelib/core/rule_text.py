"""A rule as one line, read part by part: `allow http_get(host=*.acme.com|acme.com, method=GET) max 50 preapproved`.

A value that holds one of the signs of the grammar stands in quotes, as in JSON.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from chalicelib.core.tools import Matching

MAX_LINE = 10_000

FIELD_FORM = "a letter or _, then at most 99 letters, digits, _, . or -"
_FIELD = r"[A-Za-z_][\w.-]{0,99}+"
FIELD = re.compile(_FIELD, re.ASCII)
"""The name of a field, as a rule may have it."""

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_ONE = rf'(?:{_QUOTED}\*?|[^\s,()|"<=]+)'
_CONDITION = rf"{_FIELD}\s*+(?:<=|=)\s*+{_ONE}(?:\|{_ONE})*"
_LINE = re.compile(
    rf"(?P<effect>[a-z]+)\s++(?P<tool>[\w.*-]++)"
    rf"(?:\s*+\(\s*+(?P<conditions>{_CONDITION}(?:\s*+,\s*+{_CONDITION})*)?\s*+\))?"
    rf"(?:\s++max\s++(?P<calls>\d{{1,9}}))?(?P<preapproved>\s++preapproved)?",
    re.ASCII,
)
_EACH = re.compile(rf"(?P<field>{_FIELD})\s*+(?P<sign><=|=)\s*+(?P<values>{_ONE}(?:\|{_ONE})*)\s*+(?:,\s*+)?")


class NotARule(Exception):  # noqa: N818 - named by what happened
    """The line cannot be read as a rule."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What stands between the brackets about one field, as it was written."""

    field: str
    sign: str
    values: tuple[str, ...]

    def matcher(self, kind: Matching) -> tuple[str, Any]:
        """Which matcher is meant for a field of that kind, and what it is given."""
        values = [_value(each, kind) for each in self.values]
        if self.sign == "<=":
            return "max", values[0] if len(values) == 1 else values
        if kind is Matching.HOST:
            return "host_in", values
        if len(values) > 1:
            return "in", values
        starred = self.values[0].endswith("*")
        if starred and kind is Matching.PATH:
            return "path_under", values[0][:-1].removesuffix("/") or "/"
        return ("prefix", values[0][:-1]) if starred else ("eq", values[0])


def _value(text: str, kind: Matching) -> Any:
    if text.startswith('"'):
        starred = text.endswith("*")
        try:
            return json.loads(text.removesuffix("*")) + ("*" if starred else "")
        except ValueError:
            raise NotARule(f"{text[:40]} is no quoted value") from None
    if kind is not Matching.NUMBER:
        return text
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return text


@dataclass(frozen=True, slots=True)
class Line:
    """A rule as it was written, not yet checked against any tool."""

    effect: str
    tool: str
    conditions: tuple[Condition, ...]
    calls: int | None
    preapproved: bool


def read(line: str) -> Line:
    """Raises `NotARule`."""
    found = _LINE.fullmatch(line.strip()) if len(line) <= MAX_LINE else None
    if found is None:
        raise NotARule("this line is no rule")
    each = _EACH.finditer(found["conditions"] or "")
    conditions = tuple(Condition(one["field"], one["sign"], tuple(re.findall(_ONE, one["values"]))) for one in each)
    calls = int(found["calls"]) if found["calls"] else None
    return Line(found["effect"], found["tool"], conditions, calls, found["preapproved"] is not None)
