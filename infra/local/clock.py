"""The local clock's two kinds: one that is turned by hand, and an event that waits by a clock."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from chalicelib.ports.clock import Clock

GLANCE = 0.005
"""How often a sleeper that may be woken early looks up, in real seconds: what wakes it knows nothing of this clock."""
PATIENCE = 10.0
"""Real seconds after which `await_sleeper` gives up."""


class HandClock:
    """`Clock` that stands still until it is turned."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._moved = threading.Condition()
        self._deadlines: list[datetime] = []

    def now(self) -> datetime:
        with self._moved:
            return self._now

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> None:
        with self._moved:
            deadline = self._now + timedelta(seconds=seconds)
            self._deadlines.append(deadline)
            self._moved.notify_all()
        try:
            self._wait(deadline, unless)
        finally:
            with self._moved:
                self._deadlines.remove(deadline)

    def _wait(self, deadline: datetime, unless: threading.Event | None) -> None:
        if unless is None:
            with self._moved:
                self._moved.wait_for(lambda: self._now >= deadline)
            return
        while self.now() < deadline and not unless.wait(GLANCE):
            pass

    def turn(self, seconds: float) -> None:
        """Let time pass, for everybody who sleeps."""
        with self._moved:
            self._now += timedelta(seconds=seconds)
            self._moved.notify_all()

    def await_sleeper(self, seconds: float) -> None:
        """Block until somebody sleeps who will wake in `seconds`, to the millisecond."""
        with self._moved:
            if not self._moved.wait_for(lambda: self._sleeps(seconds), PATIENCE):
                raise TimeoutError(f"nobody sleeps for {seconds} s")

    def _sleeps(self, seconds: float) -> bool:
        left = (deadline - self._now for deadline in self._deadlines)
        return any(abs(each.total_seconds() - seconds) < 0.001 for each in left)


class ClockedEvent:
    """A `threading.Event` whose time limit is measured by a clock of our own."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._event = threading.Event()
        self.is_set = self._event.is_set
        self.set = self._event.set
        self.clear = self._event.clear

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            return self._event.wait()
        self._clock.sleep(timeout, self._event)
        return self._event.is_set()
