"""Time that tests turn, for the event loop."""

from __future__ import annotations

import asyncio


class HandPace:
    """`Pace` that stands still until it is turned."""

    def __init__(self) -> None:
        self._now = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + seconds, woken))
        await woken

    async def turn(self, seconds: float) -> None:
        """Let time pass from sleeper to sleeper; each does what it does before the next one wakes."""
        until = self._now + seconds
        await settle()
        while any(wakes <= until for wakes, _ in self._sleepers):
            first = min(self._sleepers, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self._now = first[0]
            if not first[1].done():
                first[1].set_result(None)
            await settle()
        self._now = until


async def settle() -> None:
    """Let every task go as far as it can: none of them does more than a few awaits in a row."""
    for _ in range(30):
        await asyncio.sleep(0)
