"""Edges whose time goes otherwise, so that an idle timeout can be met within seconds."""

from __future__ import annotations

import asyncio

from chalicelib.edge.pace import LoopPace


class FastPace(LoopPace):
    """Goes `speed` times as fast: with ten, a heartbeat comes every second."""

    def __init__(self, speed: float) -> None:
        self._speed = speed

    def now(self) -> float:
        return super().now() * self._speed

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self._speed)


class Heartless:
    """Never comes to the next heartbeat, and looks at the log as often as ever."""

    def now(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
