"""Lambda environments as processes: one invocation at a time each, kept warm, and really gone when they are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from chalicelib.ports.clock import Clock
from infra.local.functions import Function, LambdaContext, Outcome

ROOT = Path(__file__).parents[2]


class Broken(Exception):  # noqa: N818 - named by what happened
    """The process ended before it answered."""


class Environment:
    """A process that runs one function."""

    def __init__(self, function: Function, variables: Mapping[str, str], print_line: Callable[[str], None]) -> None:
        answers, theirs = os.pipe()
        self.function = function
        self._process = subprocess.Popen(
            [sys.executable, "-m", "infra.local.runner", function.handler, str(theirs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(theirs,),
            env=dict(variables),
            cwd=ROOT,
            text=True,
            start_new_session=True,  # Ctrl-C is for the local cloud, which then ends its processes
        )
        os.close(theirs)
        self.pid = self._process.pid
        self._answers = os.fdopen(answers)
        self._answer = ""
        self._answered = threading.Event()
        self._reader: threading.Thread | None = None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._printer = threading.Thread(target=_print, args=(self._process.stdout, print_line), daemon=True)
        self._printer.start()

    def invoke(self, event: Any, context: LambdaContext, clock: Clock) -> Outcome:
        """Raises `Broken`; and TimeoutError once the function is over its time."""
        self._answered.clear()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ask(event, context)
        clock.sleep((context.deadline - clock.now()).total_seconds(), self._answered)
        if not self._answered.is_set():
            raise TimeoutError
        if not self._answer.endswith("\n"):
            raise Broken(self._how_it_ended())
        return Outcome(**json.loads(self._answer))

    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once, wherever it is."""
        self._process.kill()
        self._process.wait()
        self._printer.join()
        if self._reader is not None:
            self._reader.join()
        for file in (self._requests, self._answers):
            _close(file)

    def _ask(self, event: Any, context: LambdaContext) -> None:
        told = {
            "function_name": context.function_name,
            "invoked_function_arn": context.invoked_function_arn,
            "memory_limit_in_mb": context.memory_limit_in_mb,
            "aws_request_id": context.aws_request_id,
            # The process has a clock of its own: the machine's, or the fast one.
            "seconds": context.get_remaining_time_in_millis() / 1000,
        }
        try:
            self._requests.write(json.dumps({"event": event, "context": told}) + "\n")
            self._requests.flush()
        except BrokenPipeError:
            raise Broken(self._how_it_ended()) from None

    def _read(self) -> None:
        self._answer = self._answers.readline()
        self._answered.set()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        return f"signal: {-code}" if code < 0 else f"exit status {code}"


class Processes:
    """`Runtime` of processes of their own, which reach the local cloud at `endpoint`."""

    def __init__(
        self, endpoint: str, variables: Mapping[str, str], clock: Clock, print_line: Callable[[str], None]
    ) -> None:
        self._variables = {**variables, "AWS_ENDPOINT_URL": endpoint, "PYTHONPATH": str(ROOT)}
        self._clock = clock
        self._print = print_line
        self._moved = threading.Condition()
        self._idle: list[Environment] = []
        self._busy: list[Environment] = []

    def invoke(self, function: Function, event: Any, context: LambdaContext) -> Outcome:
        environment = self._take(function)
        try:
            outcome = environment.invoke(event, context, self._clock)
        except Broken as fault:
            self._drop(environment)
            return Outcome.fault("Lambda.Unknown", f"Runtime exited without an answer: {fault}")
        except TimeoutError:
            self._drop(environment)
            return Outcome.fault("Sandbox.Timedout", f"Task timed out after {function.seconds}.00 seconds")
        with self._moved:
            if environment in self._busy:
                self._busy.remove(environment)
                self._idle.append(environment)
        return outcome

    def busy(self, door: str) -> list[int]:
        """The processes, by id, that run the function of that name in app.py right now."""
        with self._moved:
            return self._running(door)

    def await_busy(self, door: str, seconds: float) -> int:
        """A process that runs the function, once there is one; raises TimeoutError after so many real seconds."""
        with self._moved:
            if not self._moved.wait_for(lambda: self._running(door), seconds):
                raise TimeoutError(door)
            return self._running(door)[0]

    def close(self) -> None:
        """End every process."""
        with self._moved:
            every, self._idle, self._busy = [*self._idle, *self._busy], [], []
        for environment in every:
            environment.kill()

    def _running(self, door: str) -> list[int]:
        return [each.pid for each in self._busy if each.function.door == door]

    def _take(self, function: Function) -> Environment:
        with self._moved:
            warm = next((each for each in self._idle if each.function == function and each.alive()), None)
            if warm is not None:
                self._idle.remove(warm)
            environment = warm or Environment(function, self._of(function), self._print)
            self._busy.append(environment)
            self._moved.notify_all()
            return environment

    def _drop(self, environment: Environment) -> None:
        with self._moved:
            if environment not in self._busy:
                return
            self._busy.remove(environment)
        environment.kill()

    def _of(self, function: Function) -> dict[str, str]:
        lambda_sets = {
            "_HANDLER": function.handler,
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        }
        return {**function.environment, **self._variables, **lambda_sets}


def _print(output: IO[str], print_line: Callable[[str], None]) -> None:
    with output:
        for line in output:
            print_line(line.rstrip("\n"))


def _close(file: IO[str]) -> None:
    with suppress(BrokenPipeError):  # what was still in the buffer is for nobody
        file.close()
