"""A run that streams: its log grows by conditional puts, as a worker's does, at the pace that a bench asks for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

from bench.cloud import Cloud
from chalicelib.core import cursor, ids
from chalicelib.core.events import EventType
from chalicelib.core.run import Status, Trigger
from tests.builders import NOON, a_held_run, a_move, accepted, an_event

WORDS = "considerably "

HELD_UP = 0.5
"""Seconds for which an event is held up, at most."""

EVER = NOON.replace(year=NOON.year + 100)
"""The run is watched all the time, so that its text wakes whoever delivers it."""


class Growing:
    """`written` has the monotonic time at which the append of each seq was answered; `asked`, at which it began."""

    def __init__(self, cloud: Cloud) -> None:
        self._runs = cloud.world.runs
        run_id = ids.run_id(cloud.world.clock.now(), cloud.world.chance.bytes(10))
        self._run = a_held_run(run_id=run_id, status=Status.STREAMING, watched_until=EVER)
        self._runs.create(self._run, accepted(), None)
        self.asked = {0: monotonic()}
        self.written = {0: monotonic()}

    @property
    def run_id(self) -> str:
        return self._run.run_id

    @property
    def tail(self) -> int:
        return max(self.written)

    def append(self, text: str = WORDS) -> int:
        """Put one delta; its seq."""
        seq = cursor.following(self.tail)
        self.asked[seq] = monotonic()
        self._runs.append(self._run, an_event(seq, EventType.TEXT_DELTA, step=1, attempt=1, text=text))
        self.written[seq] = monotonic()
        return seq

    def end(self) -> None:
        """Put the terminal event."""
        seq = cursor.following(self.tail)
        self.asked[seq] = monotonic()
        self._runs.commit(a_move(self._run, Trigger.FINISH, tail=self.tail))
        self.written[seq] = monotonic()

    def grow(
        self, length: int, every: float, unless: threading.Event, too_soon: Callable[[int], bool] = lambda _: False
    ) -> None:
        """Append every so many seconds until the log has `length` events, the terminal one among them.

        An event is held up, for half a second at most, for as long as it comes `too_soon` after that tail.
        """
        due = monotonic()
        while self.tail < length - 2 and not unless.is_set():
            due += every
            unless.wait(max(due - monotonic(), 0))
            if too_soon(self.tail):
                self._hold_up(unless, too_soon)
                due = monotonic()
            self.append()
        self.end()

    def _hold_up(self, unless: threading.Event, too_soon: Callable[[int], bool]) -> None:
        late = monotonic() + HELD_UP
        while too_soon(self.tail) and monotonic() < late and not unless.wait(0.01):
            pass
