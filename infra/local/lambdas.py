"""Lambda without Docker: moto's invocations reach the functions of the stack."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from time import perf_counter
from typing import Any
from uuid import uuid4

from moto.awslambda.models import LambdaFunction
from moto.awslambda_simple.models import LambdaSimpleBackend

from chalicelib.ports.clock import Clock
from infra.local.functions import Function, LambdaContext, Outcome, Runtime
from infra.local.overrides import override

log = logging.getLogger("infra.local")

CLOSING = Outcome.fault("Lambda.ServiceException", "the local cloud is closing")
"""What becomes of an invocation that comes too late. It is no news to whoever stops the cloud, and not logged."""


class Lambdas:
    """The functions of the stack. Once closed, none runs any more."""

    def __init__(self, functions: Mapping[str, Function], runtime: Runtime, here: Runtime, clock: Clock) -> None:
        self._functions = functions
        self._runtime = runtime
        self._here = here
        self._clock = clock
        self._calls = threading.Condition()
        self._running = 0
        self._closed = False

    def invoke(self, function: Function, event: Any) -> Outcome:
        """Run a function to its end, and log how it ended."""
        began = perf_counter()
        outcome = self._run(self._runtime, function, event)
        if outcome is not CLOSING:
            _log(function, event, outcome, perf_counter() - began)
        return outcome

    def answer(self, name: str, event: Any) -> Outcome:
        """Run a function of the API to its end, always in this process: each of its watchers would need a process."""
        return self._run(self._here, self.of_name(name), event)

    def _run(self, runtime: Runtime, function: Function, event: Any) -> Outcome:
        if not self._begun():
            return CLOSING
        try:
            # Through JSON, as on the way to AWS: a handler never shares an object with its caller.
            return runtime.invoke(function, json.loads(json.dumps(event)), self._context(function))
        finally:
            self._ended()

    def of_name(self, name: str) -> Function:
        """By the name of the function in the stack, its ARN or its name in app.py."""
        for function in self._functions.values():
            if name in (function.name, function.arn, function.door):
                return function
        raise KeyError(name)

    def close(self) -> None:
        """Let nothing begin any more."""
        with self._calls:
            self._closed = True

    def drain(self, seconds: float) -> bool:
        """Wait until nothing runs, for so many real seconds; whether it came to that."""
        with self._calls:
            return self._calls.wait_for(lambda: not self._running, seconds)

    def _begun(self) -> bool:
        with self._calls:
            self._running += not self._closed
            return not self._closed

    def _ended(self) -> None:
        with self._calls:
            self._running -= 1
            self._calls.notify_all()

    def _context(self, function: Function) -> LambdaContext:
        deadline = self._clock.now() + timedelta(seconds=function.seconds)
        return LambdaContext(function.name, function.arn, function.memory, str(uuid4()), deadline, self._clock)


@contextmanager
def in_force(
    lambdas: Lambdas, later: Callable[[Function, Any], None], streamed: Callable[[Function, Any], None]
) -> Iterator[None]:
    """moto invokes through `lambdas`; events, which nobody waits for, are handed to `later`, stream records to
    `streamed`."""

    def invoke(
        backend: LambdaSimpleBackend, name: str, qualifier: str | None, body: Any, headers: Any, answer: dict[str, str]
    ) -> bytes:
        function = lambdas.of_name(backend.get_function(name, qualifier).function_name)
        event = json.loads(body or b"{}")
        if headers.get("X-Amz-Invocation-Type") == "Event":
            later(function, event)
            return b""
        outcome = lambdas.invoke(function, event)
        if outcome.failed:
            answer["x-amz-function-error"] = "Unhandled"
        return json.dumps(outcome.payload).encode()

    def invoke_mapped(mapped: LambdaFunction, body: str, *_: Any) -> bytes:
        # moto calls this inside the write that the stream tells of, with the store's lock held.
        streamed(lambdas.of_name(mapped.function_name), json.loads(body))
        return b"handed on"

    with ExitStack() as stack:
        stack.enter_context(override(LambdaSimpleBackend, "invoke", invoke))
        stack.enter_context(override(LambdaFunction, "invoke", invoke_mapped))
        yield


def _log(function: Function, event: Any, outcome: Outcome, seconds: float) -> None:
    told = f"{outcome.payload['errorType']}: {outcome.payload['errorMessage']}" if outcome.failed else _answer(outcome)
    level = logging.WARNING if outcome.failed else logging.DEBUG if _often(event) else logging.INFO
    log.log(level, "%-15s %s %s, %d ms", function.door, _run_id(event), told, seconds * 1000)


def _often(event: Any) -> bool:
    """Records and a socket's messages: a line for each would drown the others."""
    return isinstance(event, dict) and ("Records" in event or "requestContext" in event)


def _answer(outcome: Outcome) -> str:
    return str(outcome.payload.get("next", "ok")) if isinstance(outcome.payload, dict) else "ok"


def _run_id(event: Any) -> str:
    told = event if isinstance(event, dict) else {}
    if "detail" in told:  # of the end of an execution
        told = json.loads(told["detail"].get("input") or "{}")
    return str(told.get("run_id", "-"))
