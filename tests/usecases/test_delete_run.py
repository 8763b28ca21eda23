"""Deleted runs: not there from the first moment on, and gone to the last byte, whenever it is broken off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.aws.clients import signing
from chalicelib.adapters.aws.file_bucket import FileBucket, run_key, upload_key
from chalicelib.adapters.aws.payload_store import S3PayloadStore
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import keys
from chalicelib.adapters.dynamodb.file_store import DynamoFileStore
from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore
from chalicelib.adapters.models.scripted import Turn
from chalicelib.core import lease, snapshot
from chalicelib.core.errors import Collision, Conflict, LeaseLost, NotFound, RunMoved
from chalicelib.core.events import Event, EventType
from chalicelib.core.retention import ERASED_AFTER
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import FileRef
from chalicelib.core.watch import Watch
from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.archive import archive_old
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.delete_run import delete_run
from chalicelib.usecases.erase import Erased, erase_deleted
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.read_payload import read_payload
from chalicelib.usecases.read_run import read_run
from chalicelib.usecases.route import END
from chalicelib.usecases.sweep import Swept, sweep
from tests.builders import RUN_ID, a_held_run, run_id
from tests.conftest import BUCKET
from tests.core.a_log import NOON, a_log
from tests.crash import stride
from tests.crash.killer import Killed, Killer, Moment
from tests.fresh_table import fresh_table
from tests.shelf import A_DAY, LARGE, Shelf, the_run
from tests.usecases.conftest import OpenWorkshop
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

LOG = a_log().accepted(LARGE).started().step().delta("Hi").said("Hi").done().events
"""With one payload."""
INPUT = FileRef("file_00000000000000000000000001", "a.csv", 3, "text/csv")
WATCH = Watch("c1", RUN_ID, "acme", 0, False, NOON + A_DAY)


class Estate:
    """A table and a bucket, whoever holds the lines to them."""

    def __init__(self, dynamodb: DynamoDBClient, s3: S3Client, table: str) -> None:
        self.time = VirtualTime(NOON + timedelta(hours=1))
        retry = Retry(self.time, CountedChance())
        self.dynamodb, self.s3, self.table = dynamodb, s3, table
        self.shelf = Shelf(dynamodb, table, S3PayloadStore(s3, BUCKET, retry), self.time)
        bucket = FileBucket(lambda: s3, lambda: signing(None), BUCKET, retry)
        self.files = DynamoFileStore(dynamodb, table, bucket=bucket, clock=self.time, chance=CountedChance())
        self.watches = DynamoWatchStore(dynamodb, table, clock=self.time, chance=CountedChance())

    def settle(self, run_id: str = RUN_ID, **fields: Any) -> Run:
        """A run that has ended, with something of everything that a run can have."""
        run = self.shelf.put(the_run(LOG, run_id=run_id, **fields), LOG, snapshot.fold(run_id, LOG))
        self.s3.put_object(Bucket=BUCKET, Key=upload_key("acme", INPUT.file_id), Body=b"a,b")
        self.files.claim(run_id, "acme", [INPUT])
        self.s3.delete_object(Bucket=BUCKET, Key=upload_key("acme", INPUT.file_id))
        self.files.keep(run_id, "acme", "out.txt", b"out", "text/plain")
        self.s3.put_object(Bucket=BUCKET, Key=run_key(run_id, "file_without_a_row"), Body=b"x")
        self.watches.subscribe(replace(WATCH, run_id=run_id))
        return run

    def delete(self, account_id: str = "acme", run_id: str = RUN_ID) -> None:
        delete_run(run_id, account_id=account_id, runs=self.shelf.runs, clock=self.time)

    def wait(self) -> None:
        """Until a deleted run may be erased; the list of those is a minute coarse."""
        self.time.sleep((ERASED_AFTER + timedelta(minutes=1)).total_seconds())

    def erase(self, **bounds: Any) -> Erased:
        return erase_deleted(
            archives=self.shelf.archives, files=self.files, watches=self.watches, clock=self.time, **bounds
        )

    def left(self) -> tuple[int, list[str]]:
        """How many items the table has, and which objects the bucket."""
        return len(self.items()), self.objects()

    def left_of_the_run(self) -> tuple[int, list[str]]:
        """The same without what a socket keeps for itself: that goes with the socket, or expires with its ticket."""
        others = [item for item in self.items() if not item[keys.PK]["S"].startswith(keys.socket_partition(""))]
        return len(others), self.objects()

    def items(self) -> list[Any]:
        return list(self.dynamodb.scan(TableName=self.table)["Items"])

    def objects(self) -> list[str]:
        found = self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [each["Key"] for each in found]

    def reads(self) -> Iterator[Callable[[], Any]]:
        """Every way to look at the run, from everywhere in its log."""
        runs, clock = self.shelf.runs, self.time
        for since, limit, cap in [(-1, 100, 5), (2, 1, None), (0, 2, 1000), (5, 9, 9)]:
            yield partial(
                read_events, RUN_ID, since, limit, 0, account_id="acme", runs=runs, clock=clock, replay_cap=cap
            )
        yield lambda: read_run(RUN_ID, account_id="acme", runs=runs)
        yield lambda: read_payload(RUN_ID, "0" * 64, account_id="acme", runs=runs)

    def assert_it_is_not_there(self) -> None:
        for read in self.reads():
            with pytest.raises(NotFound) as refused:
                read()
            assert refused.value.code == "run_not_found"
        assert self.shelf.runs.log(RUN_ID) == (None, [])
        assert self.shelf.runs.of_account("acme", None, 10, None) == ([], None)


GONE: tuple[int, list[str]] = (0, [])


@pytest.fixture(autouse=True)
def emptied(s3: S3Client) -> None:
    for each in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3.delete_object(Bucket=BUCKET, Key=each["Key"])


@pytest.fixture
def estate(dynamodb: DynamoDBClient, s3: S3Client, table: str) -> Estate:
    return Estate(dynamodb, s3, table)


def test_of_a_deleted_run_nothing_is_left_in_table_and_bucket(estate: Estate) -> None:
    estate.settle()
    items, objects = estate.left()
    assert (items, len(objects)) == (len(LOG) + 7, 5)

    estate.delete()
    estate.wait()

    assert estate.erase() == Erased(runs=1, events=len(LOG))
    assert estate.left() == GONE


def test_from_the_first_moment_on_nobody_sees_a_deleted_run(estate: Estate) -> None:
    estate.settle()

    estate.delete()

    estate.assert_it_is_not_there()


def test_a_deleted_run_may_be_deleted_again_until_it_is_erased(estate: Estate) -> None:
    estate.settle()
    estate.delete()
    estate.wait()
    estate.delete()
    assert estate.erase().runs == 1

    with pytest.raises(NotFound):
        estate.delete()


@pytest.mark.parametrize("deleted", [False, True])
def test_another_accounts_run_is_not_there_to_be_deleted(estate: Estate, deleted: bool) -> None:
    estate.settle(deleted_at=NOON if deleted else None)

    with pytest.raises(NotFound):
        estate.delete("globex")


@pytest.mark.parametrize("status", [status for status in Status if not status.terminal])
def test_a_run_that_goes_on_is_not_deleted(estate: Estate, status: Status) -> None:
    run = estate.shelf.put(replace(the_run(LOG[:-1]), status=status), LOG[:-1])

    with pytest.raises(Conflict, match="cancel it first") as refused:
        estate.delete()
    estate.shelf.runs.delete(run, NOON)

    assert refused.value.code == "run_not_over"
    assert estate.shelf.run(RUN_ID).deleted_at is None


@pytest.mark.parametrize("archived", [False, True])
def test_an_archived_run_is_deleted_like_any_other(estate: Estate, archived: bool) -> None:
    estate.settle()
    shelf = estate.shelf
    if archived:
        estate.time.sleep(2 * A_DAY.total_seconds())
        assert archive_old(runs=shelf.runs, archives=shelf.archives, clock=shelf.time, keep_for=A_DAY).runs == 1

    estate.delete()
    estate.assert_it_is_not_there()
    estate.wait()
    estate.erase()

    assert estate.left() == GONE


def test_the_log_stands_until_every_writer_is_dead_and_refuses_the_late_ones(estate: Estate) -> None:
    run = estate.settle()
    estate.delete()
    estate.time.sleep(ERASED_AFTER.total_seconds() - 1)
    assert estate.erase() == Erased(0, 0)

    with pytest.raises(Collision):
        estate.shelf.runs.append(run, Event(len(LOG) - 1, EventType.TOOL_FINISHED, NOON, {}, 1, "late"))


def test_what_comes_late_to_an_erased_run_brings_nothing_back(estate: Estate) -> None:
    run = estate.settle()
    estate.delete()
    estate.wait()
    estate.erase()
    runs, held = estate.shelf.runs, a_held_run()

    with pytest.raises(RunMoved):
        runs.raise_start(run, NOON)
    with pytest.raises(RunMoved):
        runs.keep_token(run, "token")
    with pytest.raises(RunMoved):
        runs.commit(lease.take(replace(held, lease_until=None), tail=7, now=NOON, write_id="w"))
    for write in (runs.renew, runs.hand_back):
        with pytest.raises(LeaseLost):
            write(held)
    runs.stamp_watched(RUN_ID, NOON)
    runs.delete(run, NOON)
    estate.shelf.archives.close(run, NOON)

    assert estate.left() == GONE


def test_nobody_gives_a_deleted_run_a_new_start(workshop: OpenWorkshop) -> None:
    shop = workshop([Turn(text="Hi")])
    run = shop.cancel()
    shop.runs.delete(run, shop.time.now())
    doers: dict[str, Any] = {"runs": shop.runs, "clock": shop.time}
    shop.time.sleep(3600)

    assert shop.advance() == END
    assert not put_back(RUN_ID, 1, workflow=shop.workflow, **doers)
    settles = {**doers, "slots": shop.slots, "workflow": shop.workflow, "chance": shop.chance}
    assert not abandon(RUN_ID, 1, "OutOfMemory", **settles)
    assert sweep(**settles) == Swept(0, 0, 0)
    await_answer(RUN_ID, 1, "token", runs=shop.runs, workflow=shop.workflow)
    with pytest.raises(NotFound):
        shop.cancel()

    assert (shop.workflow.started, shop.workflow.woken) == ([], ["token"])
    assert shop.runs.look_up(RUN_ID) == replace(run, deleted_at=run.ended_at)


def test_an_archiver_that_read_the_run_before_takes_it_off_no_list(estate: Estate) -> None:
    run = estate.settle()
    estate.delete()

    estate.shelf.archives.close(run, estate.time.now())
    estate.wait()
    estate.erase()

    assert estate.left() == GONE


def test_an_archiver_does_not_complain_about_a_run_that_is_deleted_under_it(
    estate: Estate, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, runs = estate.shelf, estate.shelf.runs
    shelf.put(the_run(LOG), LOG)
    look = runs.archive

    def deleted_meanwhile(run_id: str) -> Event | None:
        estate.delete()
        return look(run_id)

    monkeypatch.setattr(runs, "archive", deleted_meanwhile)
    estate.time.sleep(2 * A_DAY.total_seconds())
    archive_old(runs=runs, archives=shelf.archives, clock=shelf.time, keep_for=A_DAY)

    assert len(shelf.sort_keys(RUN_ID)) == len(LOG) + 1
    assert not caplog.records


def test_a_tick_deletes_no_more_than_it_may_and_the_next_one_goes_on(estate: Estate) -> None:
    for number in range(3):
        estate.settle(run_id(number), deleted_at=NOON - number * timedelta(minutes=5))
    estate.wait()

    assert estate.erase(most_events=4) == Erased(0, 4)
    assert estate.erase(most_runs=1) == Erased(1, len(LOG) - 4)
    assert estate.shelf.runs.look_up(run_id(2)) is None
    assert estate.erase() == Erased(2, 2 * len(LOG))
    assert estate.left() == GONE


def test_the_run_itself_goes_only_if_it_was_deleted(estate: Estate) -> None:
    estate.settle()

    estate.shelf.archives.delete_run(RUN_ID)

    assert estate.shelf.runs.look_up(RUN_ID) is not None


def test_other_runs_are_left_alone(estate: Estate) -> None:
    estate.settle(run_id(2))
    before = estate.left()
    estate.settle()
    estate.delete()
    estate.wait()

    estate.erase()

    assert estate.left() == before


def test_a_client_that_polls_in_the_middle_gets_a_clear_404(dynamodb: DynamoDBClient, s3: S3Client, table: str) -> None:
    killer = Killer()
    calm, armed = Estate(dynamodb, s3, table), Estate(killer.arm(dynamodb), killer.arm(s3), table)
    calm.settle()
    calm.delete()
    armed.wait()
    killer.each_call = calm.assert_it_is_not_there

    assert armed.erase().runs == 1

    assert {"query", "delete_item", "list_objects_v2", "delete_object"} <= set(killer.calls)


@pytest.mark.parametrize("moment", [Moment.AFTER, Moment.LOST])
def test_whenever_it_dies_the_next_tick_leaves_nothing(moment: Moment, dynamodb: DynamoDBClient, s3: S3Client) -> None:
    for at in stride.points():
        with fresh_table(dynamodb) as table:
            killer = Killer(at, moment)
            calm, armed = Estate(dynamodb, s3, table), Estate(killer.arm(dynamodb), killer.arm(s3), table)
            calm.settle()
            try:
                armed.delete()
                armed.wait()
                armed.erase()
            except Killed:
                if calm.shelf.runs.log(RUN_ID)[0] is None:
                    calm.assert_it_is_not_there()
                if calm.shelf.runs.look_up(RUN_ID) is not None:
                    calm.delete()
                calm.wait()
                calm.wait()
                calm.erase()
            assert calm.left_of_the_run() == GONE, f"seed {stride.SEED}"
        if not killer.struck:
            break
    assert at > 30


def test_two_ticks_at_once_do_no_harm(dynamodb: DynamoDBClient, s3: S3Client, table: str) -> None:
    killer = Killer()
    one, other = Estate(killer.arm(dynamodb), killer.arm(s3), table), Estate(dynamodb, s3, table)
    other.settle()
    other.delete()
    one.wait()
    other.wait()

    def the_other_too() -> None:
        if len(killer.calls) % 4 == 0:
            other.erase(most_events=1)

    killer.each_call = the_other_too
    one.erase()
    killer.each_call = lambda: None
    other.erase()

    assert other.left() == GONE
