"""What a run may do: the rules of its account, its agent and its own, and what they say to one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """A ruling, and the rule that it follows from, in words for the one who is asked or refused."""

    ruling: Ruling
    rule: str
