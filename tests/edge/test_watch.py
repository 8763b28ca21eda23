"""A stream, from its first frame to its end. Time is turned by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from math import inf
from typing import Any

import pytest

from chalicelib.core import sse
from chalicelib.core.errors import Unauthenticated
from chalicelib.edge.tail import HEARTBEAT_EVERY, Tail, Tails
from chalicelib.edge.watch import watch
from tests.builders import RUN_ID
from tests.edge.hand_pace import HandPace
from tests.edge.memory_log import MemoryLog
from tests.edge.test_tail import reading, seqs, tell


async def allowed() -> None:
    """The key goes on counting."""


class Watcher:
    """Notes down what it is sent, and when."""

    def __init__(self, tail: Tail, pace: HandPace, *, since: int = -1, **given: Any) -> None:
        self._tail, self._pace, self._since = tail, pace, since
        self._given: dict[str, Any] = {"seconds": inf, "still_allowed": allowed, **given}
        self.got: list[tuple[float, bytes]] = []
        self.task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        first = await self._tail.now(self._since, False)
        stream: AsyncIterator[bytes] = watch(self._tail, first, False, pace=self._pace, **self._given)
        async for written in stream:
            self.got.append((self._pace.now(), written))

    @property
    def seqs(self) -> list[int]:
        return [seq for _, written in self.got for seq in seqs(written)]

    @property
    def heartbeats(self) -> list[float]:
        return [when for when, written in self.got if written == sse.HEARTBEAT.encode()]


class Place:
    def __init__(self, length: int = 3) -> None:
        self.log, self.pace = MemoryLog(length), HandPace()
        self.tail = Tail(reading(self.log), self.pace)

    def watcher(self, **given: Any) -> Watcher:
        return Watcher(self.tail, self.pace, **given)


def test_a_stream_delivers_the_log_as_it_grows_and_ends_with_it() -> None:
    async def story() -> None:
        place = Place()
        watcher = place.watcher()
        await place.pace.turn(1)
        place.log.grow(2)
        await place.pace.turn(1)
        place.log.end()
        await place.pace.turn(1)
        assert watcher.task.done()
        assert watcher.seqs == [0, 1, 2, 3, 4, 5]
        assert watcher.heartbeats == []

    tell(story)


def test_silence_is_broken_every_ten_seconds() -> None:
    async def story() -> None:
        place = Place()
        watcher = place.watcher()
        await place.pace.turn(35)
        assert watcher.heartbeats == pytest.approx([10, 20, 30])
        assert HEARTBEAT_EVERY == 10

    tell(story)


def test_an_event_is_as_good_as_a_heartbeat() -> None:
    async def story() -> None:
        place = Place()
        watcher = place.watcher()
        await place.pace.turn(6)
        place.log.grow()
        await place.pace.turn(13)
        assert watcher.heartbeats == pytest.approx([16], abs=0.3)

    tell(story)


def test_something_is_said_at_once_though_there_is_nothing_new_and_retry_waits_for_the_first_frame() -> None:
    async def story() -> None:
        place = Place()
        watcher = place.watcher(since=2)
        await place.pace.turn(0)
        place.log.grow(2)
        await place.pace.turn(1)
        place.log.grow(1)
        await place.pace.turn(1)
        said, first, second = (written for _, written in watcher.got)
        assert said == sse.HEARTBEAT.encode()
        assert first.startswith(b"retry: 1000\nevent: ")
        assert second.startswith(b"event: ")
        assert b"retry" not in second

    tell(story)


def test_a_stream_ends_on_purpose_in_time_and_goes_on_from_its_cursor() -> None:
    async def story() -> None:
        place = Place()
        first = place.watcher(seconds=840)
        await place.pace.turn(839)
        assert not first.task.done()
        await place.pace.turn(HEARTBEAT_EVERY + 1)
        assert first.task.done()
        place.log.grow(2)
        again = place.watcher(since=first.seqs[-1], seconds=840)
        await place.pace.turn(1)
        assert first.seqs + again.seqs == [0, 1, 2, 3, 4]

    tell(story)


def test_a_busy_stream_ends_in_time_too() -> None:
    async def story() -> None:
        place = Place()
        watcher = place.watcher(seconds=60)
        for _ in range(65):
            place.log.grow()
            await place.pace.turn(1)
        assert watcher.task.done()
        assert watcher.got[-1][0] == pytest.approx(60, abs=1)

    tell(story)


def test_a_stream_ends_when_its_key_counts_no_more() -> None:
    async def story() -> None:
        revoked = asyncio.Event()

        async def still_allowed() -> None:
            if revoked.is_set():
                raise Unauthenticated("key_revoked", "this API key was revoked")

        place = Place()
        watcher = place.watcher(still_allowed=still_allowed)
        await place.pace.turn(1)
        revoked.set()
        await place.pace.turn(HEARTBEAT_EVERY)
        assert watcher.task.done()
        assert watcher.task.exception() is None

    tell(story)


def test_a_store_that_fails_ends_the_stream_with_word_of_when_to_come_back() -> None:
    async def story() -> None:
        place = Place()
        watchers = [place.watcher() for _ in range(3)]
        await place.pace.turn(1)
        place.log.down = True
        await place.pace.turn(1)
        assert all(watcher.task.done() for watcher in watchers)
        assert all(watcher.got[-1][1] == sse.trouble().encode() for watcher in watchers)

    tell(story)


def test_an_edge_that_closes_ends_its_streams_within_a_breath_and_new_ones_after_their_first_chunk() -> None:
    async def story() -> None:
        pace, log = HandPace(), MemoryLog(3)
        tails = Tails(pace)
        before = Watcher(tails.of("acme", RUN_ID, reading(log)), pace)
        await pace.turn(5)
        tails.close()
        await pace.turn(1)
        after = Watcher(tails.of("acme", RUN_ID, reading(log)), pace)
        other = Watcher(tails.of("globex", RUN_ID, reading(log)), pace)
        await pace.turn(0)
        assert before.task.done()
        assert [after.seqs, other.seqs] == [[0, 1, 2], [0, 1, 2]]
        assert after.task.done()
        assert other.task.done()

    tell(story)
