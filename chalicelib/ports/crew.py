"""Work that goes on beside the one who writes the log."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol, TypeVar

T = TypeVar("T")


class Crew(Protocol):
    def begin(self, work: Callable[[], None]) -> None:
        """Do `work` beside the caller. It tells of its progress, its end and its faults through an inbox."""

    def take(self, inbox: SimpleQueue[T], seconds: float) -> T | None:
        """The next thing in the inbox, waited for at most `seconds`; None if nothing came."""
