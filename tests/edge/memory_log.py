"""A run and its log in memory, as far as readers go, with every read counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

from chalicelib.core.errors import Unavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.ports.run_store import Page
from tests.builders import a_run, an_event


def a_delta(seq: int) -> Event:
    return an_event(seq, EventType.TEXT_DELTA, step=1, attempt=1, text=f"word {seq} ")


class MemoryLog:
    """The reading half of `RunStore`, for one run. `make` gives the event of a seq; nothing else is kept."""

    def __init__(self, length: int = 1, *, ended: bool = False, make: Callable[[int], Event] = a_delta) -> None:
        self._make = make
        self._length = length
        self._ended = ended
        self.reads = 0
        self.stamps = 0
        self.down = False
        self._counting = threading.Lock()

    def grow(self, count: int = 1) -> None:
        self._length += count

    def end(self) -> None:
        """The terminal event comes."""
        self._length += 1
        self._ended = True

    @property
    def run(self) -> Run:
        return a_run(status=Status.DONE if self._ended else Status.STREAMING)

    def event(self, seq: int) -> Event:
        if self._ended and seq == self._length - 1:
            return an_event(seq, EventType.RUN_DONE, output={"text": ""})
        return self._make(seq)

    def page(self, run_id: str, since: int, limit: int, *, strong: bool = False) -> Page:
        with self._counting:
            self.reads += 1
        if self.down:
            raise Unavailable("throttled")
        if run_id != self.run.run_id:
            return Page((), None, None)
        behind = min(since + limit + 1, self._length)
        events = tuple(self.event(seq) for seq in range(max(since, 0), behind))
        return Page(events, self.run if behind == self._length else None, self.run.account_id)

    def tail(self, run_id: str) -> tuple[Run, Event]:
        return self.run, self.event(self._length - 1)

    def log(self, run_id: str, since: int = -1) -> tuple[Run, list[Event]]:
        return self.run, [self.event(seq) for seq in range(since + 1, self._length)]

    def archive(self, run_id: str) -> Event | None:
        return None

    def stamp_watched(self, run_id: str, until: datetime) -> None:
        self.stamps += 1
