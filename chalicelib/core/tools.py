"""What a tool is, and what calling it twice would mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Effect(StrEnum):
    """What a call does to the world. Only an irreversible one may not simply be made again."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    KEYED = "keyed"
    IRREVERSIBLE = "irreversible"

    @property
    def repeatable(self) -> bool:
        """Whether a call that may have happened may be made again under the same key."""
        return self is not Effect.IRREVERSIBLE


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as models and the runtime see it. `parameters` is JSON Schema of an object, `timeout` in seconds."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    effect: Effect = Effect.IRREVERSIBLE
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The outcome of a call. A failed one (`ok` false) is told to the model; it is no fault of the run."""

    ok: bool
    content: str
