"""An agent: a named recipe for runs."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.core.run import Budget

DEFAULT_BUDGET = Budget(steps=50, seconds=3600)


@dataclass(frozen=True, slots=True)
class Agent:
    """`model` names a model as `<provider>:<name>`; `tools` are names in the toolbox; `budget` is what a run gets by
    default."""

    name: str
    description: str
    prompt: str
    model: str
    tools: tuple[str, ...] = ()
    budget: Budget = DEFAULT_BUDGET
