"""How long to wait before another try. Nothing else sleeps or throws dice, so that tests can bring their own time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

_HIGHEST_POWER = 16


@dataclass(frozen=True, slots=True)
class Pace:
    """Exponential back-off from `first` up to `cap` seconds, at most half of it taken off by chance."""

    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    first: float = 0.25
    cap: float = 15.0

    def delay(self, tries: int, at_least: float | None = None) -> float:
        """Seconds to wait after `tries` tries that failed; never less than the server asked for."""
        backed_off = min(self.cap, self.first * 2.0 ** min(tries - 1, _HIGHEST_POWER))
        # Clients that lost the same server must not come back in step.
        return max(backed_off * (1 - self.chance() / 2), at_least or 0.0)
