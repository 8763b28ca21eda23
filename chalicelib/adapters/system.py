"""The machine's own clock, chance and threads."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class SystemClock:
    """`Clock` by the operating system."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> None:
        if unless is None:
            time.sleep(seconds)
        else:
            unless.wait(seconds)


class SystemChance:
    """`Chance` by the operating system."""

    def bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def write_id(self) -> str:
        return os.urandom(12).hex()


class ThreadCrew:
    """`Crew` of daemon threads: one that is stuck in a tool never keeps a Lambda from answering."""

    def begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def take(self, inbox: SimpleQueue[T], seconds: float) -> T | None:
        try:
            return inbox.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None
