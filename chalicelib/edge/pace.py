"""Time as streams feel it: a monotonic clock, and pauses that keep nobody else waiting."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Pace(Protocol):
    def now(self) -> float:
        """Seconds, since whenever."""

    async def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""


class LoopPace:
    """`Pace` by the event loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
