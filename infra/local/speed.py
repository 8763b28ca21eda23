"""Time that runs faster: with `--speed 10` a minute of Pawl is six seconds of yours.

Leases, waits and the tick follow it, in Lambda processes too; models and tools take the time that they take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Self, TypeVar

from chalicelib.adapters.system import SystemClock, ThreadCrew

T = TypeVar("T")

VARIABLE = "PAWL_LOCAL_TIME"
"""How a Lambda process learns of it: `<speed>@<origin>`."""


@dataclass(frozen=True)
class FastTime:
    """A `Clock` and a `Crew` whose seconds pass `speed` times as fast as the machine's, counted from `origin`."""

    speed: float
    origin: datetime

    @classmethod
    def read(cls, text: str) -> Self:
        """The time that `VARIABLE` names."""
        speed, _, origin = text.partition("@")
        return cls(float(speed), datetime.fromisoformat(origin))

    @classmethod
    def kept(cls, speed: float, folder: Path | None) -> Self:
        """A time that goes on where it was, if there is a folder to keep its origin in."""
        now = datetime.now(UTC)
        if folder is None:
            return cls(speed, now)
        folder.mkdir(parents=True, exist_ok=True)
        origin = folder / "origin"
        if not origin.exists():
            origin.write_text(now.isoformat())
        return cls(speed, datetime.fromisoformat(origin.read_text()))

    def __str__(self) -> str:
        return f"{self.speed:g}@{self.origin.isoformat()}"

    def now(self) -> datetime:
        return self.origin + (datetime.now(UTC) - self.origin) * self.speed

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> None:
        SystemClock().sleep(seconds / self.speed, unless)

    def begin(self, work: Callable[[], None]) -> None:
        ThreadCrew().begin(work)

    def take(self, inbox: SimpleQueue[T], seconds: float) -> T | None:
        return ThreadCrew().take(inbox, seconds / self.speed)
