"""Time that tests turn: a clock and a crew whose threads run one at a time, and which never really sleeps.

Whoever takes from an inbox, or sleeps on the test's own thread, lets every other thread run until each of them sleeps
or has ended. If the inbox is still empty, time jumps to the next deadline, the sleeper's or one's own. So the same
test makes the same order of events every time, whatever the machine is doing.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class _Sleeper:
    def __init__(self, until: datetime, unless: threading.Event | None) -> None:
        self.until = until
        self.unless = unless
        self.wake = threading.Event()


class VirtualTime:
    """A `Clock` and a `Crew`."""

    def __init__(self, start: datetime = EPOCH) -> None:
        self._now = start
        self._state = threading.Condition()
        self._busy = 0
        self._sleepers: list[_Sleeper] = []
        self._crew: set[int] = set()
        self.each_jump: Callable[[datetime], None] = lambda now: None

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> None:
        if threading.get_ident() in self._crew:
            self._sleep_in_crew(_Sleeper(self._now + timedelta(seconds=seconds), unless))
        else:
            self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let so much time pass, waking every sleeper whose time has come, in order."""
        until = self._now + timedelta(seconds=seconds)
        while self._jump(until):
            pass

    def begin(self, work: Callable[[], None]) -> None:
        with self._state:
            self._busy += 1
        threading.Thread(target=self._work, args=(work,), daemon=True).start()

    def take(self, inbox: SimpleQueue[T], seconds: float) -> T | None:
        until = self._now + timedelta(seconds=max(seconds, 0))
        while True:
            self._settle()
            try:
                return inbox.get_nowait()
            except queue.Empty:
                if not self._jump(until):
                    return None

    def _work(self, work: Callable[[], None]) -> None:
        self._crew.add(threading.get_ident())
        try:
            work()
        finally:
            self._crew.discard(threading.get_ident())
            with self._state:
                self._busy -= 1
                self._state.notify_all()

    def _sleep_in_crew(self, sleeper: _Sleeper) -> None:
        with self._state:
            self._sleepers.append(sleeper)
            self._busy -= 1
            self._state.notify_all()
        sleeper.wake.wait()

    def _settle(self) -> None:
        """Wait until every other thread sleeps or has ended, and wake those whom somebody wants awake."""
        with self._state:
            while True:
                self._state.wait_for(lambda: self._busy == 0)
                called = [sleeper for sleeper in self._sleepers if sleeper.unless and sleeper.unless.is_set()]
                if not called:
                    return
                self._rouse(called[0])

    def _jump(self, until: datetime) -> bool:
        """Go to the next sleeper's time, if it comes before `until`, and wake it; otherwise to `until`, and False."""
        self._settle()
        with self._state:
            due = min(self._sleepers, key=lambda sleeper: sleeper.until, default=None)
            if due is None or due.until > until:
                self._now = max(self._now, until)
                return False
            self._now = max(self._now, due.until)
            self._rouse(due)
        self.each_jump(self._now)
        return True

    def _rouse(self, sleeper: _Sleeper) -> None:
        self._sleepers.remove(sleeper)
        self._busy += 1
        sleeper.wake.set()


class CountedChance:
    """A `Chance` that counts: every id differs, and the same test gives the same ids."""

    def __init__(self) -> None:
        self._count = 0

    def bytes(self, count: int) -> bytes:
        self._count += 1
        return self._count.to_bytes(count, "big")

    def write_id(self) -> str:
        self._count += 1
        return f"w{self._count}"
