"""The end of a log, watched by one reader for everybody who follows the run in this process.

A watcher holds a cursor and no queue. Watchers at the same cursor share one read, and so the many that wait at the
end of the log cost what one costs; whoever has fallen behind reads a page of its own from where it stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakValueDictionary

from chalicelib.core.cursor import Answer
from chalicelib.core.run import Status
from chalicelib.edge import frames
from chalicelib.edge.frames import Chunk, Shelf
from chalicelib.edge.pace import Pace

HEARTBEAT_EVERY = 10.0
"""Seconds of silence after which something is said: the shortest idle timeout on the way is 30 (docs/delivery.md)."""

PAUSES = {Status.STREAMING: 0.2, Status.WAITING: 1.0}
PAUSE = 0.5
"""Seconds between two looks at the end of a log: of these statuses, and of all others."""

Look = Callable[[int, bool], Awaitable[Answer]]
"""Read the run's log behind a cursor, once; in full, or with a snapshot if that is far behind."""


class Tail:
    """One run's log, as the watchers of one account see it."""

    def __init__(self, look: Look, pace: Pace) -> None:
        self._look = look
        self._pace = pace
        self._shelf = Shelf()
        self._reads: dict[Any, asyncio.Task[Chunk]] = {}
        self.closed = False

    async def now(self, cursor: int, in_full: bool) -> Chunk:
        """What stands behind the cursor. Here a run, or a cursor, is refused."""
        return await self._together(self._read, cursor, in_full)

    async def after(self, cursor: int, in_full: bool) -> Chunk:
        """What follows the cursor, as soon as there is something; without text when a heartbeat is due."""
        kept = frames.first_chunk(self._shelf.after(cursor))
        return kept or await self._together(self._await, cursor, in_full)

    async def _together(self, read: Callable[[int, bool], Any], cursor: int, in_full: bool) -> Chunk:
        """One read for all who ask the same. It goes on though one of them leaves."""
        asked = (read, cursor, in_full)
        task = self._reads.get(asked)
        if task is None:
            task = self._reads[asked] = asyncio.create_task(read(cursor, in_full))
            task.add_done_callback(lambda done: self._finished(asked, done))
        return await asyncio.shield(task)

    def _finished(self, asked: Any, task: asyncio.Task[Chunk]) -> None:
        del self._reads[asked]
        if not task.cancelled():
            task.exception()  # whoever waited has it; if nobody did, there is nobody to tell

    async def _await(self, cursor: int, in_full: bool) -> Chunk:
        until = self._pace.now() + HEARTBEAT_EVERY
        while True:
            answer = await self._look(cursor, in_full)
            left = until - self._pace.now()
            if answer.events or answer.done or left <= 0 or self.closed:
                return self._chunk(answer)
            await self._pace.sleep(min(self._pause(answer.status), left))

    async def _read(self, cursor: int, in_full: bool) -> Chunk:
        return self._chunk(await self._look(cursor, in_full))

    def _chunk(self, answer: Answer) -> Chunk:
        found = frames.made(answer)
        self._shelf.put(found)
        return frames.first_chunk(found) or Chunk(b"", answer.next_since, answer.done)

    def _pause(self, status: Status | None) -> float:
        return PAUSES.get(status, PAUSE) if status else PAUSE


class Tails:
    """The tails of this process; one goes when its last watcher does."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._tails: WeakValueDictionary[tuple[str, str], Tail] = WeakValueDictionary()
        self._closed = False

    def of(self, account_id: str, run_id: str, look: Look) -> Tail:
        """The run's tail. Accounts never share one: each is to be told that the other's run is not there."""
        tail = self._tails.get((account_id, run_id))
        if tail is None:
            tail = self._tails[account_id, run_id] = Tail(look, self._pace)
            tail.closed = self._closed
        return tail

    def close(self) -> None:
        """Streams end at their next breath; their clients reconnect, elsewhere, with their cursors."""
        self._closed = True
        for tail in list(self._tails.values()):
            tail.closed = True
