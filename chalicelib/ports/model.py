"""A language model, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from chalicelib.core.reply import Message, Reply
from chalicelib.core.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `attempt_no` counts the calls made for the same step, from 0; `seconds` is all the time that it
    has."""

    run_id: str
    step: int
    attempt_no: int
    model: str
    prompt: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    seconds: float


class ModelCall(Protocol):
    def chunks(self) -> Iterator[str | Reply]:
        """Text as it comes, and at the end, once, the whole reply. Raises `ModelUnavailable` and `ModelRefused`.

        After `close` it ends soon, with a fault or without.
        """

    def close(self) -> None:
        """Break the call off, from any thread, at any time, any number of times; the connection to the provider is
        closed."""


class Model(Protocol):
    def call(self, request: ModelRequest) -> ModelCall:
        """Prepare a call. Nothing is sent before its chunks are asked for."""
