"""Old runs become archives: whenever it is broken off, whoever reads meanwhile."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.adapters.aws.payload_store import S3PayloadStore
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import keys
from chalicelib.core import snapshot
from chalicelib.core.cursor import START
from chalicelib.core.errors import InvalidInput, NotFound
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases.archive import Archived, archive_old
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.read_run import read_run
from tests.builders import RUN_ID, a_run, run_id
from tests.conftest import BUCKET
from tests.core.a_log import NOON, a_log
from tests.core.a_reader import folded
from tests.core.test_snapshot import STEPS, a_streamed_log
from tests.crash import stride
from tests.crash.killer import Killed, Killer, Moment
from tests.fresh_table import fresh_table
from tests.shelf import A_DAY, LARGE, SAID, Shelf, the_run, the_words
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

LATER = NOON + A_DAY + timedelta(hours=1)
LOG = the_words().done().events


@pytest.fixture
def shelf(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> Shelf:
    """A table in which it is a day and an hour after everything."""
    return Shelf(dynamodb, table, payloads, VirtualTime(LATER))


@pytest.fixture
def ended(shelf: Shelf) -> Run:
    return shelf.put(the_run(LOG), LOG)


def archive(shelf: Shelf, **bounds: Any) -> Archived:
    return archive_old(runs=shelf.runs, archives=shelf.archives, clock=shelf.time, keep_for=A_DAY, **bounds)


def read(shelf: Shelf, since: int = START, limit: int = 100, **more: Any) -> Any:
    return read_events(
        RUN_ID, since, limit, 0, account_id=more.pop("account_id", "acme"), runs=shelf.runs, clock=shelf.time, **more
    )


def payload_keys(s3: S3Client, run_id: str = RUN_ID) -> list[str]:
    found = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"payloads/{run_id}/")
    return [each["Key"] for each in found.get("Contents", [])]


def test_of_an_old_run_an_archive_is_left_and_none_of_its_events_and_payloads(
    shelf: Shelf, ended: Run, s3: S3Client
) -> None:
    assert payload_keys(s3)

    assert archive(shelf) == Archived(runs=1, events=len(LOG))

    assert shelf.sort_keys(RUN_ID) == [keys.ARCHIVE_SK, keys.RUN_SK]
    assert shelf.run(RUN_ID).archived_at == LATER
    assert not payload_keys(s3)


def test_the_archive_is_the_snapshot_of_the_whole_log(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    assert shelf.runs.archive(RUN_ID) == snapshot.fold(RUN_ID, LOG)


def test_an_archived_run_is_not_looked_at_again(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    assert list(shelf.archives.old(LATER, 10)) == []
    assert archive(shelf) == Archived(0, 0)


def test_a_young_run_and_one_that_goes_on_are_left_alone(shelf: Shelf) -> None:
    shelf.put(the_run(LOG, ended_at=LATER - A_DAY + timedelta(seconds=1)), LOG)
    shelf.put(the_run(LOG[:-1], run_id=run_id(2)), LOG[:-1])

    assert archive(shelf) == Archived(0, 0)
    assert len(shelf.sort_keys(RUN_ID)) == len(LOG) + 1


def test_the_oldest_go_first_and_the_rest_at_the_next_tick(shelf: Shelf) -> None:
    for number in range(3):
        shelf.put(the_run(LOG, run_id=run_id(number), ended_at=NOON - number * timedelta(hours=1)), LOG)

    assert archive(shelf, most_runs=1).runs == 1
    assert shelf.run(run_id(2)).archived_at == LATER
    assert archive(shelf).runs == 2


def test_a_tick_deletes_no_more_events_than_it_may(shelf: Shelf, ended: Run) -> None:
    assert archive(shelf, most_events=5) == Archived(runs=0, events=5)
    assert shelf.sort_keys(RUN_ID)[1] == keys.event_sk(5)
    assert archive(shelf) == Archived(runs=1, events=len(LOG) - 5)


@pytest.mark.parametrize("left", [LOG[:-1], LOG[1:], [*LOG[:4], *LOG[5:]], []])
def test_a_log_that_is_not_whole_is_neither_archived_nor_deleted(shelf: Shelf, left: list[Event]) -> None:
    shelf.put(the_run(LOG), left)

    assert archive(shelf) == Archived(0, 0)
    assert len(shelf.sort_keys(RUN_ID)) == len(left) + 1


def test_a_large_archive_is_kept_packed_beside_the_table(shelf: Shelf, s3: S3Client) -> None:
    words = a_log().accepted("y" * 40_000).started().step().delta("Hi").said("Hi").done()
    shelf.put(the_run(words.events), words.events)

    archive(shelf)

    [kept] = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"archives/{RUN_ID}/")["Contents"]
    assert kept["Size"] < 1_000
    assert shelf.runs.archive(RUN_ID) == snapshot.fold(RUN_ID, words.events)


def test_every_reader_of_an_archived_run_gets_one_snapshot_and_is_done(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    for since in range(START, LOG[-1].seq):
        answer = read(shelf, since)
        assert [event.type for event in answer.events] == [EventType.SNAPSHOT]
        assert (answer.next_since, answer.done, answer.status) == (LOG[-1].seq, True, Status.DONE)
    at_its_end = read(shelf, LOG[-1].seq)
    assert (at_its_end.events, at_its_end.done) == ((), True)


def test_a_cursor_ahead_of_an_archived_log_is_refused(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    with pytest.raises(InvalidInput, match="ahead of the log"):
        read(shelf, LOG[-1].seq + 1)


def test_an_archived_run_is_its_account_s(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    with pytest.raises(NotFound):
        read(shelf, account_id="else")
    with pytest.raises(NotFound):
        read_run(RUN_ID, account_id="else", runs=shelf.runs)


def test_an_archived_run_still_shows_how_it_ended(shelf: Shelf, ended: Run) -> None:
    archive(shelf)

    run, last = read_run(RUN_ID, account_id="acme", runs=shelf.runs)

    assert (run.status, last) == (Status.DONE, LOG[-1])


@pytest.mark.parametrize("limit", [3, 100])
def test_far_behind_a_client_gets_one_snapshot_and_goes_on_from_there(limit: int, shelf: Shelf) -> None:
    log = the_words().events
    shelf.put(the_run(log), log)

    behind = read(shelf, limit=limit, replay_cap=5)
    shelf.runs.append(the_run(log), Event(len(log), EventType.RUN_DONE, LATER, {"output": {}}, 2, "end"))
    after = read(shelf, behind.next_since, limit=3, replay_cap=5)

    assert [event.seq for event in behind.events] == [len(log) - 1]
    assert folded(behind.events) == SAID
    assert not behind.done
    assert [event.type for event in after.events] == [EventType.RUN_DONE]


def test_within_the_cap_and_without_one_the_whole_log_is_paged_through(shelf: Shelf) -> None:
    log = the_words().events
    shelf.put(the_run(log), log)

    for cap in (len(log), None):
        seen: list[Event] = []
        while len(seen) < len(log):
            seen += read(shelf, len(seen) - 1, limit=3, replay_cap=cap).events
        assert [event.seq for event in seen] == [*range(len(log))]


SHORT = a_log().accepted(LARGE).started().step().delta("Hi").said("Hi").done().events
"""Small enough for an archiver to die everywhere in it, with one payload."""


class Followers:
    """Readers with cursors all over the log."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def read(self) -> None:
        for since in (START, 2, SHORT[-1].seq):
            self.follow(since)

    def follow(self, since: int) -> None:
        """To the end: what comes is either the log without a hole, or one snapshot that stands for it all."""
        run, last = read_run(RUN_ID, account_id="acme", runs=self.shelf.runs)
        assert (run.status, last) == (Status.DONE, SHORT[-1])
        cursor = since
        while not (answer := read(self.shelf, cursor, limit=3)).done:
            assert answer.events
            cursor = self.take(answer.events, cursor)
        assert self.take(answer.events, cursor) == SHORT[-1].seq

    def take(self, events: tuple[Event, ...], cursor: int) -> int:
        for event in events:
            assert event.seq == cursor + 1 or (event.type is EventType.SNAPSHOT and event.seq == SHORT[-1].seq)
            assert event.type is not EventType.SNAPSHOT or snapshot.text(event) == "Hi"
            cursor = event.seq
        return cursor


def on_a_shelf(dynamodb: DynamoDBClient, s3: S3Client, table: str, killer: Killer) -> tuple[Shelf, Shelf]:
    """A run, as an archiver sees it who may die, and as others do."""
    time = VirtualTime(LATER)
    retry = Retry(time, CountedChance())
    calm = Shelf(dynamodb, table, S3PayloadStore(s3, BUCKET, retry), time)
    calm.put(the_run(SHORT), SHORT)
    armed = Shelf(killer.arm(dynamodb), table, S3PayloadStore(killer.arm(s3), BUCKET, retry), time)
    return armed, calm


def test_no_reader_notices_an_archiver_at_work(dynamodb: DynamoDBClient, s3: S3Client, table: str) -> None:
    killer = Killer()
    armed, calm = on_a_shelf(dynamodb, s3, table, killer)
    killer.each_call = Followers(calm).read

    archive(armed)

    Followers(calm).read()
    assert {"put_item", "delete_item", "update_item", "put_object", "delete_object"} <= set(killer.calls)


@pytest.mark.parametrize("moment", [Moment.AFTER, Moment.LOST])
def test_an_archiver_that_dies_at_any_call_is_made_up_for(
    moment: Moment, dynamodb: DynamoDBClient, s3: S3Client
) -> None:
    for at in stride.points():
        with fresh_table(dynamodb) as table:
            killer = Killer(at, moment)
            armed, calm = on_a_shelf(dynamodb, s3, table, killer)
            try:
                archive(armed)
            except Killed:
                Followers(calm).read()
                archive(calm)
            assert calm.sort_keys(RUN_ID) == [keys.ARCHIVE_SK, keys.RUN_SK], f"seed {stride.SEED}"
            assert calm.run(RUN_ID).archived_at
            assert not payload_keys(s3)
            Followers(calm).read()
        if not killer.struck:
            break
    assert at > 20


def test_two_archivers_at_once_do_no_harm(dynamodb: DynamoDBClient, s3: S3Client, table: str) -> None:
    killer = Killer()
    one, other = on_a_shelf(dynamodb, s3, table, killer)

    def the_other_too() -> None:
        if len(killer.calls) % 5 == 0:
            archive(other, most_events=1)

    killer.each_call = the_other_too
    archive(one)
    archive(other)

    assert other.sort_keys(RUN_ID) == [keys.ARCHIVE_SK, keys.RUN_SK]
    assert other.runs.archive(RUN_ID) == snapshot.fold(RUN_ID, SHORT)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.integers(30, 60))
def test_the_archive_says_what_a_client_had_folded_from_a_log_longer_than_any_page(
    dynamodb: DynamoDBClient, payloads: PayloadStore, steps: list[list[list[str]]], more: int
) -> None:
    log = a_streamed_log([*steps, [["ab"] * more]]).done().events
    with fresh_table(dynamodb) as table:
        shelf = Shelf(dynamodb, table, payloads, VirtualTime(LATER))
        shelf.put(the_run(log), log)
        seen: list[Event] = []
        while not (answer := read(shelf, len(seen) - 1, limit=7)).done:
            seen += answer.events
        seen += answer.events

        archive(shelf)
        [left] = read(shelf).events

    assert len(seen) == len(log)
    assert snapshot.text(left) == folded(seen)


def test_a_run_that_was_never_archived_has_no_archive(shelf: Shelf) -> None:
    shelf.put(a_run(), LOG[:1])

    assert shelf.runs.archive(RUN_ID) is None
