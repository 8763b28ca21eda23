"""Time comes through a door."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware, UTC."""

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> None:
        """Let `seconds` pass; come back early once `unless` is set."""
