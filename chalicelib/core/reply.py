"""What a model was asked and what it said, in our words; the adapters translate to and from a provider's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. `estimated` where the provider gave no figures, or the call was broken off."""

    input_tokens: int
    output_tokens: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call as the model asked for it. `malformed` holds arguments that are no JSON object, and `args` is empty
    then."""

    name: str
    args: Mapping[str, Any]
    malformed: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply of a model. `stop` is the provider's reason in its own words."""

    text: str
    calls: tuple[AskedCall, ...]
    usage: Usage
    stop: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a run. `call_id` is also the idempotency key that the tool gets."""

    call_id: str
    name: str
    args: Mapping[str, Any]
    malformed: str | None = None


@dataclass(frozen=True, slots=True)
class UserSaid:
    text: str


@dataclass(frozen=True, slots=True)
class ModelSaid:
    text: str
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ToolSaid:
    call_id: str
    name: str
    content: str
    ok: bool


Message = UserSaid | ModelSaid | ToolSaid
"""One turn of what the model is shown."""
