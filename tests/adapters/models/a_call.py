"""Model requests and calls as tests make them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any

import pytest

from chalicelib.adapters.models.openai import OpenAIModel
from chalicelib.core.errors import ModelFault
from chalicelib.core.reply import Message, Reply, UserSaid
from chalicelib.core.tools import Effect, ToolSpec
from chalicelib.ports.model import ModelCall, ModelRequest
from tests.adapters.models.provider import Provider

KEY = "sk-secret-4711"
WEATHER = ToolSpec(
    "get_weather", "The weather.", {"type": "object", "properties": {"city": {"type": "string"}}}, Effect.READ
)


def a_request(*messages: Message, **changes: Any) -> ModelRequest:
    """A request like any other, but for the changes."""
    usual: Mapping[str, Any] = {
        "run_id": "run_1",
        "step": 0,
        "attempt_no": 0,
        "model": "test",
        "prompt": "Be brief.",
        "messages": messages or (UserSaid("Hello there"),),
        "tools": (),
        "seconds": 30.0,
    }
    return ModelRequest(**{**usual, **changes})


class Reading:
    """A call being read by a thread of its own."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._came: SimpleQueue[str | Reply] = SimpleQueue()
        self.fault: ModelFault | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def next(self) -> str | Reply:
        """What comes next, waited for."""
        return self._came.get(timeout=10)

    def ends(self) -> list[str | Reply]:
        """What came after that, up to the end; fails if there is no end."""
        self._thread.join(timeout=10)
        assert not self._thread.is_alive(), "the call does not end"
        return [self._came.get_nowait() for _ in range(self._came.qsize())]

    def _read(self) -> None:
        try:
            for chunk in self._call.chunks():
                self._came.put(chunk)
        except ModelFault as fault:
            self.fault = fault


def ask(provider: Provider, seconds: float = 30.0) -> list[str | Reply]:
    """All that comes of a call to this provider."""
    return list(OpenAIModel(provider.url, KEY).call(a_request(seconds=seconds)).chunks())


def fault_of(provider: Provider, seconds: float = 30.0) -> ModelFault:
    """How a call to this provider fails."""
    with pytest.raises(ModelFault) as raised:
        ask(provider, seconds)
    return raised.value
