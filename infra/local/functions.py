"""A function of the stack and its invocation. Every Lambda process imports this, so nothing of moto is in here."""

from __future__ import annotations

import importlib
import json
import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from chalicelib.ports.clock import Clock

log = logging.getLogger("infra.local")


@dataclass(frozen=True)
class LambdaContext:
    """The second argument of every handler."""

    function_name: str
    invoked_function_arn: str
    memory_limit_in_mb: int
    aws_request_id: str
    deadline: datetime
    clock: Clock
    function_version: str = "$LATEST"
    log_group_name: str = ""
    log_stream_name: str = ""
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        """What is left until Lambda would break the function off."""
        return max(0, round((self.deadline - self.clock.now()).total_seconds() * 1000))


Handler = Callable[[Any, Any], Any]
Resolve = Callable[[str], Handler]


@dataclass(frozen=True)
class Function:
    """A function of the stack, as it is deployed."""

    name: str
    arn: str
    handler: str
    environment: Mapping[str, str]
    seconds: int
    memory: int

    @property
    def door(self) -> str:
        """Its name in app.py."""
        return self.handler.rpartition(".")[2]


@dataclass(frozen=True)
class Outcome:
    """What an invocation came to: its answer, or the fault that it ended with."""

    payload: Any
    failed: bool = False

    @classmethod
    def fault(cls, error_type: str, message: str, trace: list[str] | None = None) -> Outcome:
        return cls({"errorType": error_type, "errorMessage": message, "stackTrace": trace or []}, failed=True)


class Runtime(Protocol):
    """Where functions run."""

    def invoke(self, function: Function, event: Any, context: LambdaContext) -> Outcome:
        """Run it to its end, however it ends."""


class Threads:
    """In this process, in the caller's thread. Cheap, but nothing can break a function off that is over its time."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    def invoke(self, function: Function, event: Any, context: LambdaContext) -> Outcome:
        return call(self._resolve(function.handler), event, context)


def resolve(handler: str) -> Handler:
    """The function that a packaged handler string names, found as Lambda finds it."""
    module, _, name = handler.rpartition(".")
    found: Handler = getattr(importlib.import_module(module), name)
    return found


def call(handler: Handler, event: Any, context: Any) -> Outcome:
    """Call a handler as the Lambda runtime does: whatever it raises becomes the answer."""
    try:
        return Outcome(json.loads(json.dumps(handler(event, context))))
    except Exception as fault:
        log.debug("the function raised", exc_info=True)
        return Outcome.fault(type(fault).__name__, str(fault), traceback.format_tb(fault.__traceback__))
