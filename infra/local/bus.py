"""What happens by itself: rules fire, the minute's tick is pressed, items expire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.stepfunctions.parser.backend.execution import Execution

from chalicelib.ports.clock import Clock
from infra.local import events
from infra.local.data import Data
from infra.local.dynamodb import Serial, delete_expired
from infra.local.events import Event, Rule
from infra.local.lambdas import Lambdas
from infra.local.stack import REGION

EXPIRY_SECONDS = 60
"""Between two looks for items that have outlived their time."""


class Bus:
    """Between what happens and the functions that are to hear of it. A `stepfunctions.Watcher`."""

    def __init__(self, rules: Sequence[Rule], lambdas: Lambdas, data: Data, clock: Clock) -> None:
        self._rules = rules
        self._lambdas = lambdas
        self._data = data
        self._clock = clock
        self._stopped = threading.Event()
        self._over: set[str] = set()
        self._telling: list[threading.Thread] = []
        self._moved = threading.Condition()

    def started(self, execution: Execution) -> None:
        self._data.started(events.described(execution))

    def ended(self, execution: Execution) -> None:
        self._begin_to_tell(events.described(execution))
        with self._moved:
            self._over.add(execution.exec_arn)
            self._moved.notify_all()

    def await_end(self, arn: str, seconds: float) -> None:
        """Block until the execution is over; raises TimeoutError after so many real seconds."""
        with self._moved:
            if not self._moved.wait_for(lambda: arn in self._over, seconds):
                raise TimeoutError(arn)

    def abort(self, executions: Sequence[Event]) -> None:
        """Tell that these have ended: the local cloud in which they ran is gone."""
        stopped = events.milliseconds(self._clock.now())
        for execution in executions:
            self._begin_to_tell({**execution, "status": "ABORTED", "stopDate": stopped})

    def tick(self, serial: Serial, expiry: Mapping[str, str]) -> None:
        """Begin to fire the scheduled rules and to delete what has expired."""
        for rule in self._rules:
            if rule.every is not None:
                _beside(events.keep_time, rule, self._deliver, self._clock, self._stopped)
        _beside(self._expire, serial, expiry)

    def stop(self) -> None:
        self._stopped.set()

    def finish(self) -> None:
        """Wait until all that has happened has been told of. The functions must be closed, so that this comes soon."""
        with self._moved:
            telling, self._telling = self._telling, []
        for thread in telling:
            thread.join()

    def _begin_to_tell(self, execution: Event) -> None:
        thread = _beside(self._tell, execution)
        with self._moved:
            self._telling = [each for each in (*self._telling, thread) if each.is_alive()]

    def _tell(self, execution: Event) -> None:
        # Only then is it forgotten: an execution whose end nobody could deal with is told of again at the next start.
        if events.publish(events.status_change(execution, self._clock.now()), self._rules, self._deliver):
            self._data.ended(execution["executionArn"])

    def _deliver(self, target: str, event: Event) -> bool:
        return not self._lambdas.invoke(self._lambdas.of_name(target), event).failed

    def _expire(self, serial: Serial, expiry: Mapping[str, str]) -> None:
        while not self._stopped.is_set():
            self._clock.sleep(EXPIRY_SECONDS, self._stopped)
            for table, attribute in expiry.items():
                found = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[table]
                delete_expired(serial, found, attribute, self._clock.now().timestamp())


def _beside(work: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread
