"""Time for clients: it passes only by their own sleeping, and at once."""

from __future__ import annotations

from collections.abc import Callable

from pawl_client import Pace


class ManualTime:
    def __init__(self, on_sleep: Callable[[], None] | None = None) -> None:
        self.slept: list[float] = []
        self._on_sleep = on_sleep

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._on_sleep:
            self._on_sleep()

    def pace(self, luck: float = 0.0) -> Pace:
        """A pace on this time; `luck` 0 takes nothing off a delay, 1 half of it."""
        return Pace(sleep=self.sleep, chance=lambda: luck)
