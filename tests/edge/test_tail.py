"""One reader at the end of a log, for however many watch it. Time is turned by hand."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.core.cursor import Answer
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import EventType
from chalicelib.core.run import Status
from chalicelib.edge import frames
from chalicelib.edge.frames import Frame, Shelf
from chalicelib.edge.tail import HEARTBEAT_EVERY, Look, Tail, Tails
from chalicelib.usecases.read_events import read_events
from tests.builders import RUN_ID, an_event
from tests.edge.hand_pace import HandPace, settle
from tests.edge.memory_log import MemoryLog
from tests.virtual_time import VirtualTime

PAGE = 50


def reading(log: Any, status: Status | None = None) -> Look:
    async def look(since: int, in_full: bool) -> Answer:
        ports: Any = {"account_id": "acme", "runs": log, "clock": VirtualTime()}
        found = read_events(RUN_ID, since, PAGE, 0, replay_cap=None if in_full else 1000, **ports)
        return replace(found, status=status) if status else found

    return look


def seqs(text: bytes) -> list[int]:
    return [json.loads(line[6:])["seq"] for line in text.decode().splitlines() if line.startswith("data: ")]


def tell(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


async def follow(tail: Tail, cursor: int, seen: list[int]) -> None:
    """A watcher that reads all it gets."""
    over = False
    while not over:
        chunk = await tail.after(cursor, False)
        seen += seqs(chunk.text)
        cursor, over = chunk.last, chunk.over


async def reads_for(watchers: int) -> int:
    """The reads that so many watchers cost, over six times at which the log grows."""
    log, pace = MemoryLog(10), HandPace()
    tail = Tail(reading(log), pace)
    seen: list[list[int]] = [[] for _ in range(watchers)]
    tasks = [asyncio.create_task(follow(tail, 9, each)) for each in seen]
    for _ in range(5):
        log.grow(3)
        await pace.turn(5)
    log.end()
    await pace.turn(5)
    await asyncio.gather(*tasks)
    assert all(each == [*range(10, 26)] for each in seen)
    return log.reads


def test_a_hundred_watchers_cost_as_many_reads_as_one() -> None:
    async def story() -> None:
        alone = await reads_for(1)
        assert alone > 100
        assert await reads_for(100) == alone

    tell(story)


@pytest.mark.parametrize(
    ("status", "looks"), [(Status.STREAMING, 50), (Status.RUNNING, 20), (Status.PENDING, 20), (Status.WAITING, 10)]
)
def test_the_end_of_a_log_is_looked_at_most_often_while_it_streams(status: Status, looks: int) -> None:
    async def story() -> None:
        log, pace = MemoryLog(1), HandPace()
        waiting = asyncio.create_task(Tail(reading(log, status), pace).after(0, False))
        await pace.turn(HEARTBEAT_EVERY - 0.01)
        assert log.reads == looks
        assert not waiting.done()
        await pace.turn(0.01)
        assert (await waiting).text == b""

    tell(story)


def test_nobody_reads_a_log_that_nobody_waits_for() -> None:
    async def story() -> None:
        log, pace = MemoryLog(1), HandPace()
        tail = Tail(reading(log), pace)
        leaves = asyncio.create_task(tail.after(0, False))
        await settle()
        leaves.cancel()
        await pace.turn(HEARTBEAT_EVERY + 1)
        before = log.reads
        await pace.turn(60)
        assert log.reads == before

    tell(story)


def test_a_watcher_that_leaves_takes_nothing_from_those_beside_it() -> None:
    async def story() -> None:
        log, pace = MemoryLog(1), HandPace()
        tail = Tail(reading(log), pace)
        leaves, stays = (asyncio.create_task(tail.after(0, False)) for _ in range(2))
        await settle()
        leaves.cancel()
        log.grow()
        await pace.turn(1)
        assert seqs((await stays).text) == [1]

    tell(story)


def test_whoever_comes_late_or_lags_reads_on_from_its_own_cursor() -> None:
    async def story() -> None:
        log, pace = MemoryLog(900), HandPace()
        log.end()
        tail = Tail(reading(log), pace)
        early: list[int] = []
        late: list[int] = []
        at_the_end = asyncio.create_task(follow(tail, 899, early))
        await asyncio.gather(at_the_end, follow(tail, 3, late))
        assert (early, late) == ([900], [*range(4, 901)])

    tell(story)


def test_whoever_is_too_far_behind_gets_the_snapshot_unless_it_asks_for_all() -> None:
    async def story() -> None:
        log = MemoryLog(1001, make=lambda seq: an_event(seq, EventType.TOOL_PROGRESS, text="x"))
        log.end()
        tail = Tail(reading(log), HandPace())
        whole = await tail.now(-1, True)
        assert seqs(whole.text)[:2] == [0, 1]
        summed_up = await tail.now(-1, False)
        assert summed_up.text.startswith(b"event: snapshot\n")
        assert (summed_up.last, summed_up.over) == (1001, True)

    tell(story)


def test_a_snapshot_is_given_to_nobody_who_is_close_behind() -> None:
    async def story() -> None:
        log = MemoryLog(1001, make=lambda seq: an_event(seq, EventType.TOOL_PROGRESS, text="x"))
        log.end()
        tail = Tail(reading(log), HandPace())
        await tail.now(-1, False)
        assert (await tail.after(1000, False)).text.startswith(b"event: run.done\n")

    tell(story)


def test_trouble_reaches_everybody_who_waits_and_is_over_with_it() -> None:
    async def story() -> None:
        log, pace = MemoryLog(1), HandPace()
        tail = Tail(reading(log), pace)
        waiting = [asyncio.create_task(tail.after(0, False)) for _ in range(3)]
        await settle()
        log.down = True
        await pace.turn(1)
        assert all(isinstance(task.exception(), Unavailable) for task in waiting)
        log.down = False
        log.grow()
        assert seqs((await tail.after(0, False)).text) == [1]

    tell(story)


def test_a_run_has_one_tail_for_each_account_for_as_long_as_somebody_watches() -> None:
    tails, look = Tails(HandPace()), reading(MemoryLog(1))
    first = tails.of("acme", RUN_ID, look)

    assert tails.of("acme", RUN_ID, look) is first
    assert tails.of("globex", RUN_ID, look) is not first
    del first
    gc.collect()
    assert len(tails._tails) == 0


def a_frame(seq: int, size: int) -> Frame:
    return Frame(seq, b"x" * size, False, True)


def test_small_frames_go_together_a_large_one_alone_and_none_is_cut() -> None:
    some = [a_frame(seq, size) for seq, size in enumerate([1000, 1000, 1000, 2000, 25_000, 10])]

    sizes = []
    while chunk := frames.first_chunk(some):
        sizes.append(len(chunk.text))
        some = some[1 + next(index for index, frame in enumerate(some) if frame.seq == chunk.last) :]

    assert sizes == [3000, 2000, 25_000, 10]


def test_the_shelf_does_not_grow_with_the_log_and_holds_more_than_the_largest_page() -> None:
    shelf = Shelf()
    for seq in range(10_000):
        shelf.put([a_frame(seq, 2500)])

    kept = [frame.seq for frame in shelf._frames.values()]
    assert sum(len(frame.text) for frame in shelf._frames.values()) <= frames.KEPT
    assert kept == [*range(10_000 - len(kept), 10_000)]
    assert frames.KEPT > PAGE * 33_000
    assert [frame.seq for frame in shelf.after(9_997)] == [9_998, 9_999]
    assert [*shelf.after(5)] == []
