"""An agent: a named, versioned recipe for runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from chalicelib.core.declared import DeclaredTool
from chalicelib.core.permissions import Grant
from chalicelib.core.run import Budget

BUILT_IN = 0
"""The version of every agent that comes along; those of an account count theirs from 1."""

DEFAULT_BUDGET = Budget(steps=50, seconds=3600)


class Expiry(StrEnum):
    """What becomes of a question that nobody answered in time: the call is denied, or the run fails."""

    DENY = "deny"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Agent:
    """`model` names a model as `<provider>:<name>`; `tools` are names in the toolbox; `budget` is what a run gets by
    default.

    A run keeps the `version` that it began with. `permissions` are the rules of every run of the agent; without any,
    each of its tools is allowed as far as its risk lets it be. A question to a person stays open for `answer_within`
    seconds, and then `on_expiry` says what becomes of it.
    """

    name: str
    description: str
    prompt: str
    model: str
    tools: tuple[str, ...] = ()
    budget: Budget = DEFAULT_BUDGET
    version: int = 1
    declared: tuple[DeclaredTool, ...] = ()
    permissions: tuple[Grant, ...] = ()
    answer_within: int = 24 * 3600
    on_expiry: Expiry = Expiry.DENY

    @property
    def built_in(self) -> bool:
        """Whether it comes along, rather than being an account's own."""
        return self.version == BUILT_IN
