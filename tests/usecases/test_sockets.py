"""A run followed by sockets: whatever crosses whatever, each gets every event, in order, and nothing of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore
from chalicelib.core.errors import Forbidden, InvalidInput, NotFound, Unavailable
from chalicelib.core.events import EventType
from chalicelib.core.ticket import COUNTS_FOR
from chalicelib.ports.run_store import Page
from chalicelib.ports.stream import Written
from chalicelib.usecases import pump
from chalicelib.usecases.disconnect import disconnect
from chalicelib.usecases.read_events import read_events
from tests.builders import RUN_ID, run_id
from tests.usecases.audience import Audience
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "PAGE", 5)


@pytest.fixture
def watches(dynamodb: DynamoDBClient, table: str) -> DynamoWatchStore:
    return DynamoWatchStore(dynamodb, table, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def audience(runs: DynamoRunStore, watches: DynamoWatchStore) -> Audience:
    return Audience(runs, watches)


@contextmanager
def once_before(target: Any, name: str, work: Callable[[], None]) -> Iterator[None]:
    """`work` is done right before the method is called next."""
    original = getattr(target, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        setattr(target, name, original)
        work()
        return original(*args, **kwargs)

    setattr(target, name, called)
    yield
    assert getattr(target, name) == original, f"{name} was never called"


def test_what_was_written_before_comes_at_once_and_what_is_written_then_comes_with_its_record(
    audience: Audience,
) -> None:
    audience.tell(3)
    reader = audience.watch()
    assert reader.events == audience.log()

    audience.know()
    audience.tell(2)
    audience.tell(1, EventType.MODEL_REPLIED, text="xx")
    audience.deliver()
    assert reader.events == audience.log()
    assert reader.dropped == []


def test_a_cursor_is_gone_on_from(audience: Audience) -> None:
    audience.tell(5)
    reader = audience.watch(since=-1)
    disconnect("c1", watches=audience.watches)
    audience.tell(2)
    audience.sockets.readers["c2"] = reader
    audience.watch("c2", since=5)

    assert reader.events == audience.log()
    assert reader.dropped == []


def test_an_event_between_the_watch_and_the_replay_comes_once(audience: Audience) -> None:
    audience.know()
    with once_before(audience.watches, "subscribe", lambda: audience.tell(1, EventType.STEP_STARTED, step=1)):
        reader = audience.watch()
    audience.deliver()

    assert reader.events == audience.log()
    assert reader.dropped == []


def test_an_event_right_behind_the_replay_finds_the_watch(audience: Audience, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is read, then the event is written, and delivered, and only then the replay goes out."""
    read, reads = read_events, 0

    def read_and_write(*args: Any, **kwargs: Any) -> Any:
        nonlocal reads
        found, reads = read(*args, **kwargs), reads + 1
        if reads == 2:
            audience.tell(1, EventType.STEP_STARTED, step=1)
            audience.deliver()
        return found

    monkeypatch.setattr(pump, "read_events", read_and_write)
    reader = audience.watch()

    assert reader.events == audience.log()


def test_a_run_that_ends_right_after_the_subscribe_is_heard_to_end(audience: Audience) -> None:
    connection = audience.connect()
    with once_before(audience.watches, "advance", audience.end):
        audience.subscribe(connection)

    assert audience.sockets.readers["c1"].events == audience.log()
    assert audience.sockets.readers["c1"].ended == {RUN_ID}
    audience.deliver()
    assert audience.sockets.readers["c1"].dropped == []


def test_a_run_that_has_ended_is_told_and_watched_no_longer(audience: Audience) -> None:
    audience.end()
    reader = audience.watch()

    assert reader.ended == {RUN_ID}
    assert audience.watches.of_run(RUN_ID) == []
    reader.ended.clear()
    audience.watch(since=1)
    assert reader.ended == {RUN_ID}


def test_text_from_before_its_writer_knew_of_a_watcher_comes_with_the_next_record(audience: Audience) -> None:
    reader = audience.watch()
    audience.tell(2)
    assert audience.records == [], "the writer does not know, so the filter lets nothing through"

    audience.know()
    audience.tell(1)
    audience.deliver()
    assert reader.events == audience.log()


def test_text_before_a_silence_of_a_writer_that_did_not_know_comes_with_the_next_ping(audience: Audience) -> None:
    reader = audience.watch()
    audience.tell(2)
    assert audience.records == []

    audience.ping()
    assert reader.events == audience.log()


def test_a_ping_keeps_the_run_watched_and_a_silent_socket_does_not(audience: Audience) -> None:
    audience.watch()
    first = audience.tail()[0].watched_until
    audience.time.advance(10)
    audience.ping()
    renewed = audience.tail()[0].watched_until
    assert first is not None
    assert renewed is not None
    assert (renewed - first).total_seconds() == 10

    audience.time.advance(15)
    audience.know()
    audience.tell(1)
    assert audience.records == []


def test_two_pumps_at_once_send_nothing_out_of_reach_and_the_reader_drops_what_it_has(audience: Audience) -> None:
    reader = audience.watch()
    audience.know()
    audience.tell(8, text="x" * 10_000)
    records = audience.records

    posts = 0

    def other_pump(connection_id: str) -> None:
        nonlocal posts
        posts += 1
        if posts == 2:
            audience.deliver(records)

    audience.sockets.before_post = other_pump
    audience.deliver(records)

    assert reader.events == audience.log()
    assert reader.dropped != []
    [watch] = audience.watches.of_run(RUN_ID)
    assert watch.sent == audience.tail()[1].seq


def test_whoever_subscribes_again_while_a_pump_ends_is_told_all_the_same(audience: Audience) -> None:
    reader = audience.watch()
    audience.tell(12)
    audience.end()
    again = audience.watches.connection("c1")
    assert again is not None

    def lose_everything() -> None:
        reader.cursors.clear()
        reader.events.clear()
        audience.subscribe(again[0], -1)

    with once_before(audience.watches, "finish", lose_everything):
        audience.deliver()

    assert reader.events == audience.log()


def test_a_resubscribe_is_not_ended_by_a_pump_that_comes_to_its_end_meanwhile(audience: Audience) -> None:
    """The new replay has begun when the old pump finishes its watch; it must still be heard to the end."""
    reader = audience.watch()
    audience.tell(12)
    audience.end()
    stale, found = audience.watches.of_run(RUN_ID)[0], audience.watches.connection("c1")
    assert found is not None
    audience.watches.advance(stale, 13)
    old = audience.watches.of_run(RUN_ID)[0]
    with once_before(audience.watches, "advance", lambda: audience.watches.finish(old)):
        audience.subscribe(found[0], 0)

    assert reader.events == audience.log()


def test_a_socket_that_is_gone_is_forgotten_and_fails_nobody(audience: Audience) -> None:
    readers = [audience.watch(name) for name in ("c1", "c2", "c3")]
    audience.know()
    audience.sockets.gone.add("c2")
    audience.tell(2)
    audience.deliver()

    assert readers[0].events == readers[2].events == audience.log()
    assert [watch.connection_id for watch in audience.watches.of_run(RUN_ID)] == ["c1", "c3"]
    assert audience.watches.connection("c2") is None


def test_a_socket_that_goes_in_the_middle_of_its_frames_is_forgotten(audience: Audience) -> None:
    audience.watch()
    audience.know()
    audience.tell(8, text="x" * 10_000)
    posts: list[str] = []

    def go(connection_id: str) -> None:
        posts.append(connection_id)
        if len(posts) == 2:
            audience.sockets.gone.add(connection_id)

    audience.sockets.before_post = go
    audience.deliver()

    assert len(posts) == 2
    assert audience.watches.of_run(RUN_ID) == []


def test_a_socket_that_cannot_be_reached_now_gets_it_later(audience: Audience) -> None:
    readers = [audience.watch(name) for name in ("c1", "c2")]
    audience.know()
    audience.sockets.stuck.add("c1")
    audience.tell(2)
    audience.deliver()
    assert readers[1].events == audience.log()

    audience.sockets.stuck.clear()
    audience.ping("c1")
    assert readers[0].events == audience.log()


def test_another_account_s_run_is_not_there_and_nothing_is_kept(audience: Audience) -> None:
    stranger = audience.connect("c9", account_id="globex")
    with pytest.raises(NotFound) as refusal:
        audience.subscribe(stranger)

    assert refusal.value.code == "run_not_found"
    assert audience.watches.of_run(RUN_ID) == []
    assert audience.watches.connection("c9") == (stranger, frozenset())


def test_a_ticket_for_another_run_and_a_cursor_ahead_of_the_log_keep_nothing(audience: Audience) -> None:
    with pytest.raises(Forbidden):
        audience.subscribe(audience.connect("c1", run_id=run_id(2)))
    with pytest.raises(InvalidInput):
        audience.subscribe(audience.connect("c2"), since=7)

    assert audience.watches.of_run(RUN_ID) == []


def test_a_socket_whose_ticket_has_expired_is_sent_nothing_more_though_its_rows_are_there(audience: Audience) -> None:
    reader = audience.watch()
    audience.time.advance(COUNTS_FOR.total_seconds())
    audience.tell(1, EventType.STEP_STARTED, step=1)
    audience.deliver()

    assert len(reader.events) == 1
    assert audience.sockets.closed == ["c1"]
    assert audience.watches.of_run(RUN_ID) == []
    assert audience.watches.connection("c1") is None


def test_a_cursor_too_far_behind_gets_a_snapshot_and_what_follows_it(
    runs: DynamoRunStore, watches: DynamoWatchStore
) -> None:
    audience = Audience(runs, watches, replay_cap=6)
    audience.tell(10)
    reader = audience.watch()
    audience.tell(1, EventType.STEP_STARTED, step=1)
    audience.deliver()

    assert [(event["type"], event["seq"]) for event in reader.events] == [("snapshot", 10), ("step.started", 11)]


def test_a_cursor_too_far_behind_gets_everything_if_it_wants_to(
    runs: DynamoRunStore, watches: DynamoWatchStore
) -> None:
    audience = Audience(runs, watches, replay_cap=6)
    audience.tell(10)
    audience.subscribe(audience.connect(), in_full=True)

    assert audience.sockets.readers["c1"].events == audience.log()


def test_watchers_at_one_cursor_share_the_reads_of_the_log(audience: Audience, monkeypatch: pytest.MonkeyPatch) -> None:
    readers = [audience.watch(f"c{number}") for number in range(8)]
    audience.know()
    audience.tell(3)
    read, since = audience.runs.page, []

    def counted(run_id: str, at: int, limit: int, *, strong: bool = False) -> Page:
        since.append((at, strong))
        return read(run_id, at, limit, strong=strong)

    monkeypatch.setattr(audience.runs, "page", counted)
    audience.deliver()

    assert since == [(0, True), (3, True)]
    assert all(reader.events == audience.log() for reader in readers)


def test_records_that_come_again_or_reordered_cost_no_post(audience: Audience) -> None:
    reader = audience.watch()
    audience.know()
    audience.tell(3)
    audience.deliver([Written(RUN_ID, 3), Written(RUN_ID, 1), Written(RUN_ID, 2)])
    assert reader.events == audience.log()

    audience.deliver([Written(RUN_ID, 2)])
    assert reader.dropped == []


def test_in_a_crowd_that_is_too_large_for_the_time_nobody_is_always_last(audience: Audience) -> None:
    readers = [audience.watch(f"c{number}") for number in range(4)]
    audience.know()
    audience.sockets.before_post = lambda connection_id: audience.time.advance(30)
    for step in range(2):  # two of the four fit into each
        audience.tell(1, EventType.STEP_STARTED, step=step)
        with pytest.raises(Unavailable):
            audience.deliver()

    assert [len(reader.events) for reader in readers] == [2, 2, 3, 3]


def test_a_batch_that_runs_out_of_time_is_tried_again_and_goes_on_where_it_was(
    audience: Audience, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = [audience.watch(f"c{number}") for number in range(3)]
    audience.know()
    audience.tell(1)
    records = audience.records
    audience.sockets.before_post = lambda connection_id: audience.time.advance(30)
    with pytest.raises(Unavailable):
        audience.deliver(records)
    audience.sockets.before_post = lambda connection_id: None
    audience.deliver(records)

    assert all(reader.events == audience.log() for reader in readers)
    assert all(reader.dropped == [] for reader in readers)


@pytest.mark.parametrize("looks", [Audience.ping, Audience.deliver])
def test_a_socket_is_told_once_that_a_run_it_watches_was_deleted(
    audience: Audience,
    watches: DynamoWatchStore,
    looks: Callable[[Audience], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[dict[str, Any]] = []
    audience.watch()
    audience.end()
    audience.runs.delete(audience.tail()[0], audience.time.now())
    monkeypatch.setattr(audience.sockets.readers["c1"], "take", lambda frame: told.append(json.loads(frame)))

    looks(audience)
    audience.ping()

    [problem] = told
    assert (problem["type"], problem["run_id"], problem["problem"]["code"]) == ("problem", RUN_ID, "run_not_found")
    assert watches.of_run(RUN_ID) == []
