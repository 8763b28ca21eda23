"""moto's Step Functions by the local clock (waits, back-offs, time limits), with word of what begins and ends."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Protocol

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.stepfunctions import models
from moto.stepfunctions.parser.api import ExecutionStatus
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec import execute_state
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.asl.eval import environment
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.utils import boto_client
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication, Execution
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker
from moto.stepfunctions.parser.models import StepFunctionsParserBackend, stepfunctions_parser_backends

from chalicelib.ports.clock import Clock
from infra.local.clock import ClockedEvent
from infra.local.overrides import override

Body = Callable[..., Any]


class Watcher(Protocol):
    """Who is told of executions."""

    def started(self, execution: Execution) -> None:
        """It has begun; told before the one who began it has an answer."""

    def ended(self, execution: Execution) -> None:
        """It is over; `status` says how."""


@contextmanager
def in_force(clock: Clock, watcher: Watcher) -> Iterator[None]:
    """moto obeys clock and watcher for as long as the block lasts."""
    with _all((*_by_the_clock(clock), *_with_word_to(watcher))):
        yield


@contextmanager
def repaired() -> Iterator[None]:
    """What keeps moto's Step Functions from working for us is put right; begins before the stack comes up."""
    with _all(_repairs()):
        yield


@contextmanager
def _all(overrides: Iterable[tuple[Any, str, Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        for target, name, replacement in overrides:
            stack.enter_context(override(target, name, replacement))
        yield


def stop_all() -> None:
    """Stop every execution that still runs."""
    for backend in stepfunctions_parser_backends[DEFAULT_ACCOUNT_ID].values():
        for execution in backend._get_executions(ExecutionStatus.RUNNING):
            execution.stop(stop_date=None, error=None, cause=None)


def _by_the_clock(clock: Clock) -> list[tuple[Any, str, Any]]:
    return [
        (retrier_decl, "time", SimpleNamespace(sleep=clock.sleep)),
        (WaitFunction, "_wait_interval", functools.partialmethod(_wait, clock)),
        (execute_state, "threading", SimpleNamespace(Event=functools.partial(ClockedEvent, clock))),
    ]


def _wait(_: WaitFunction, clock: Clock, env: Environment, wait_seconds: float) -> None:
    deadline = clock.now() + timedelta(seconds=wait_seconds)
    while env.is_running() and (left := (deadline - clock.now()).total_seconds()) > 0:
        clock.sleep(left, env.program_state_event)


def _with_word_to(watcher: Watcher) -> list[tuple[Any, str, Any]]:
    start, terminated = StepFunctionsParserBackend.start_execution, BaseExecutionWorkerCommunication.terminated
    one_at_a_time = threading.Lock()

    def start_execution(backend: StepFunctionsParserBackend, *args: Any, **kwargs: Any) -> Execution:
        # moto looks for the name and takes it in two steps: two starts at once would both begin.
        with one_at_a_time:
            known = {id(each) for each in backend._get_executions()}
            execution: Execution = start(backend, *args, **kwargs)
            if id(execution) not in known:
                watcher.started(execution)
            return execution

    def ended(communication: BaseExecutionWorkerCommunication) -> None:
        terminated(communication)
        watcher.ended(communication.execution)

    return [
        (StepFunctionsParserBackend, "start_execution", start_execution),
        (BaseExecutionWorkerCommunication, "terminated", ended),
    ]


def _repairs() -> list[tuple[Any, str, Any]]:
    return [
        # CloudFormation would put the state machine into the backend that executes nothing.
        (models, "stepfunctions_backends", stepfunctions_parser_backends),
        (lambda_eval_utils, "boto_client_for", _one_client(boto_client.boto_client_for)),
        (environment, "threading", SimpleNamespace(RLock=threading.RLock, Event=_Latch)),
        (Environment, "set_error", _while_it_runs(Environment.set_error)),
        (ExecutionWorker, "start", _with_environment(ExecutionWorker.start)),
        (Execution, "stop", _at_once(Execution.stop)),
    ]


def _while_it_runs(set_error: Body) -> Body:
    """In moto what fails after it was stopped has failed; on AWS it was stopped."""

    def fail(env: Environment, error: Any) -> None:
        if env.is_running():
            set_error(env, error)

    return fail


class _Latch(threading.Event):
    """Says that a program no longer runs. It never will again, yet moto clears the event at once: waiters miss it."""

    def clear(self) -> None:
        pass


def _one_client(make: Body) -> Body:
    """moto makes a client for every task, which costs 50 ms each."""
    kept: dict[tuple[str, str], Any] = {}
    lock = threading.Lock()

    def boto_client_for(region: str, service: str, state_credentials: Any = None) -> Any:
        with lock:
            if (region, service) not in kept:
                kept[region, service] = make(region=region, service=service, state_credentials=state_credentials)
            return kept[region, service]

    return boto_client_for


def _with_environment(start: Body) -> Body:
    """moto looks for a task token in every running execution, and stumbles over one that has no environment yet."""

    def started(worker: ExecutionWorker) -> None:
        worker.env = worker._get_evaluation_environment()
        start(worker)

    return started


def _at_once(stop: Body) -> Body:
    """A stopped execution ends now, as on AWS; in moto one that waits for a task token goes on waiting."""

    def stopped(execution: Execution, *args: Any, **kwargs: Any) -> None:
        stop(execution, *args, **kwargs)
        if execution.exec_worker is not None and execution.exec_worker.env is not None:
            for endpoint in list(execution.exec_worker.env.callback_pool_manager._pool.values()):
                endpoint.interrupt_all()

    return stopped
