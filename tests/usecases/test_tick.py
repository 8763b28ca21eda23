"""What is broken keeps nothing else from its turn, nor does what is slow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import items
from chalicelib.adapters.dynamodb.archive_store import DynamoArchiveStore
from chalicelib.core import snapshot
from chalicelib.core.case import Code
from chalicelib.core.errors import Unavailable
from chalicelib.core.retention import ERASED_AFTER
from chalicelib.core.run import Status
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases import clear
from chalicelib.usecases.archive import Archived, archive_old
from chalicelib.usecases.clear import LOOK_AGAIN
from chalicelib.usecases.erase import Erased, erase_deleted
from chalicelib.usecases.examine import examine
from chalicelib.usecases.sweep import Swept, sweep
from chalicelib.usecases.tend import tend
from chalicelib.usecases.tour import Tour
from tests.builders import a_run, run_id
from tests.core.a_log import NOON, a_log, a_started_log
from tests.shelf import A_DAY, Shelf, the_run, the_words
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LATER = NOON + A_DAY + timedelta(hours=1)
LOG = the_words().done().events
SHORT = a_log().accepted().started().done().events
WITHOUT_TEXT = [replace(event, data={"step": 1}) if event.type == "model.replied" else event for event in LOG]
"""A log that no code of ours wrote: what folds it stumbles."""


@dataclass
class Hall:
    """A table a day later, and the jobs of the tick."""

    shelf: Shelf
    workflow: RecordingWorkflow

    @property
    def time(self) -> VirtualTime:
        return self.shelf.time

    def sweep(self, **bounds: Any) -> Swept:
        of: dict[str, Any] = {"runs": self.shelf.runs, "slots": self.shelf.slots, "chance": CountedChance()}
        return sweep(**of, workflow=self.workflow, clock=self.time, **bounds)

    def tend(self, **bounds: Any) -> object:
        of: dict[str, Any] = {"runs": self.shelf.runs, "slots": self.shelf.slots, "clock": self.time}
        return tend(**of, workflow=self.workflow, **bounds)

    def archive(self, archives: Any = None, **bounds: Any) -> Archived:
        of: dict[str, Any] = {"archives": archives or self.shelf.archives, "clock": self.time}
        return archive_old(runs=self.shelf.runs, **of, keep_for=A_DAY, **bounds)

    def erase(self, watches: Any, files: Any, **bounds: Any) -> Erased:
        return erase_deleted(archives=self.shelf.archives, watches=watches, files=files, clock=self.time, **bounds)

    def status(self, number: int) -> Status:
        return self.shelf.run(run_id(number)).status

    def archived(self, number: int) -> bool:
        return self.shelf.run(run_id(number)).archived_at is not None

    def codes(self) -> dict[str, set[Code]]:
        shelf, found = self.shelf, dict[str, set[Code]]()
        of: dict[str, Any] = {"runs": shelf.runs, "slots": shelf.slots, "audit": shelf.audit, "clock": self.time}
        page = examine(
            account_id="acme", repair=False, limit=9, next=None, workflow=self.workflow, chance=CountedChance(), **of
        )
        for finding in page.findings:
            found.setdefault(finding.run_id, set()).add(finding.code)
        return found


@pytest.fixture
def hall(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> Hall:
    return Hall(Shelf(dynamodb, table, payloads, VirtualTime(LATER)), RecordingWorkflow())


def overdue(hall: Hall, number: int, **fields: Any) -> None:
    log = the_words().cancelling().events
    due_at = NOON + timedelta(minutes=number)
    hall.shelf.put(the_run(log, run_id=run_id(number), due_at=due_at, **fields), log)


def test_a_run_that_can_not_be_swept_keeps_no_other_from_it(hall: Hall, caplog: pytest.LogCaptureFixture) -> None:
    never_ordered = the_words().events
    poison = the_run(never_ordered, run_id=run_id(1), due_at=NOON, status=Status.CANCELLING)
    hall.shelf.put(poison, never_ordered)
    overdue(hall, 2)

    with pytest.raises(ExceptionGroup) as raised:
        hall.sweep()

    assert [type(fault) for fault in raised.value.exceptions] == [ValueError]
    assert (hall.status(1), hall.status(2)) == (Status.CANCELLING, Status.CANCELLED)
    [line] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (line.__dict__["action"], line.__dict__["run_id"]) == ("sweep", run_id(1))


def test_an_account_that_can_not_be_tended_keeps_no_other_from_it_and_goes_to_the_end_of_the_queue(hall: Hall) -> None:
    hall.shelf.put_slots("acme", holders={"SS": [run_id(1)]}, lined_up_at=items.text("never"))
    hall.time.advance(60)
    hall.shelf.put_slots("globex", holders={"SS": [run_id(2)]})
    hall.time.advance(60)

    with pytest.raises(ExceptionGroup):
        hall.tend()

    assert hall.shelf.slots.slots("globex").named == []
    assert hall.shelf.slots.to_tend(hall.time.now(), 1) == []


def test_a_run_that_can_not_be_archived_keeps_no_other_from_it(hall: Hall, caplog: pytest.LogCaptureFixture) -> None:
    hall.shelf.put(the_run(LOG, run_id=run_id(1), ended_at=NOON), WITHOUT_TEXT)
    hall.shelf.put(the_run(SHORT, run_id=run_id(2)), SHORT)

    with pytest.raises(ExceptionGroup):
        hall.archive()

    assert (hall.archived(1), hall.archived(2)) == (False, True)
    [line] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (line.__dict__["action"], line.__dict__["run_id"]) == ("archive", run_id(1))


def payload_gone(hall: Hall) -> None:
    hall.shelf.put(the_run(LOG, run_id=run_id(1), ended_at=NOON), LOG)
    hall.shelf.archives.delete_payloads(run_id(1))


def log_with_a_hole(hall: Hall) -> None:
    hall.shelf.put(the_run(LOG, run_id=run_id(1), ended_at=NOON), [*LOG[:4], *LOG[5:]])


@pytest.mark.parametrize(("breaks", "code"), [(payload_gone, Code.PAYLOAD_MISSING), (log_with_a_hole, Code.HOLE)])
def test_a_log_that_is_not_whole_gives_up_its_place_to_the_next_and_is_found_by_the_doctor(
    breaks: Callable[[Hall], None], code: Code, hall: Hall, caplog: pytest.LogCaptureFixture
) -> None:
    breaks(hall)
    hall.shelf.put(the_run(SHORT, run_id=run_id(2)), SHORT)

    assert hall.archive(most_runs=1) == Archived(0, 0)
    assert hall.archive(most_runs=1).runs == 1

    assert (hall.archived(1), hall.archived(2)) == (False, True)
    assert hall.codes() == {run_id(1): {code}}
    assert caplog.messages == ["not archived: its log is not whole"], "and not again a minute later"


def test_a_log_that_was_not_whole_is_looked_at_again_an_hour_later(hall: Hall) -> None:
    log_with_a_hole(hall)
    hall.archive()
    hall.shelf.put_item(items.event_item(hall.shelf.run(run_id(1)), LOG[4], items.data_text(LOG[4].data)))

    assert hall.archive().runs == 0
    hall.time.advance((LOOK_AGAIN + timedelta(minutes=1)).total_seconds())

    assert hall.archive().runs == 1


def test_a_run_that_was_deleted_since_it_was_read_is_not_put_back_among_the_old_ones(hall: Hall) -> None:
    read = hall.shelf.put(the_run(SHORT), SHORT)
    hall.shelf.runs.delete(read, LATER)

    hall.shelf.archives.put_off(read, LATER)

    assert hall.shelf.archives.old(LATER + A_DAY, 9) == []
    assert [run.run_id for run in hall.shelf.archives.deleted(LATER + A_DAY, 9)] == [read.run_id]


class NoWatches:
    def of_run(self, run_id: str) -> list[Any]:
        return []


@dataclass
class FilesThatStay:
    """A store that fails for one run."""

    stubborn: str

    def delete_of_run(self, run_id: str) -> None:
        if run_id == self.stubborn:
            raise Unavailable("the bucket says no")


def test_a_run_that_can_not_be_erased_keeps_no_other_from_it_and_gives_up_its_place(hall: Hall) -> None:
    for number in (1, 2):
        hall.shelf.put(the_run(SHORT, run_id=run_id(number), deleted_at=NOON + timedelta(minutes=number)), SHORT)
    files = FilesThatStay(run_id(1))

    with pytest.raises(ExceptionGroup):
        hall.erase(NoWatches(), files, most_runs=1)
    assert hall.erase(NoWatches(), files, most_runs=1).runs == 1

    assert hall.shelf.runs.look_up(run_id(2)) is None
    assert hall.shelf.runs.look_up(run_id(1)) is not None
    hall.time.advance((LOOK_AGAIN + ERASED_AFTER).total_seconds())
    assert hall.erase(NoWatches(), FilesThatStay("")).runs == 1


class Slow(RecordingWorkflow):
    """Each start takes five seconds."""

    time: VirtualTime

    def start(self, run_id: str, start: int) -> None:
        self.time.advance(5)
        super().start(run_id, start)


def test_a_sweep_stops_when_its_time_is_up_and_the_next_one_goes_on(hall: Hall) -> None:
    hall.workflow = Slow()
    hall.workflow.time = hall.time
    for number in range(4):
        hall.shelf.put(a_run(run_id=run_id(number), due_at=NOON + timedelta(minutes=number)), a_log().accepted().events)

    hall.sweep(until=hall.time.now() + timedelta(seconds=9))
    assert [started for started, _ in hall.workflow.started] == [run_id(0), run_id(1)]

    hall.sweep(until=hall.time.now() + timedelta(seconds=60))
    assert [started for started, _ in hall.workflow.started] == [run_id(number) for number in range(4)]


def test_a_tour_of_accounts_stops_when_its_time_is_up(hall: Hall) -> None:
    for account_id in ("acme", "globex"):
        hall.shelf.put_slots(account_id, holders={"SS": [run_id(1)]})
    hall.time.advance(60)

    hall.tend(until=hall.time.now())

    assert len(hall.shelf.slots.to_tend(hall.time.now(), 9)) == 2


class SlowArchives(DynamoArchiveStore):
    """Each page of events takes half a minute."""

    time: VirtualTime

    def delete_events(self, run_id: str, limit: int) -> int:
        self.time.advance(30)
        return super().delete_events(run_id, limit)


def test_an_archiver_stops_within_a_long_log_when_its_time_is_up(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clear, "PAGE", 5)
    shelf = hall.shelf
    shelf.put(the_run(LOG), LOG)
    slow = SlowArchives(shelf.client, shelf.table, payloads=shelf.payloads, clock=shelf.time, chance=CountedChance())
    slow.time = hall.time

    assert hall.archive(slow, until=hall.time.now() + timedelta(seconds=45)) == Archived(runs=0, events=10)
    assert hall.archive(slow) == Archived(runs=1, events=len(LOG) - 10)


def test_a_tour_lets_through_what_is_to_end_its_process() -> None:
    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        Tour("sweep", clock=VirtualTime()).alone(die)


def test_the_archive_s_other_text_is_found_as_long_as_the_log_stands(hall: Hall) -> None:
    said = a_started_log().step().delta("Hi").said("Hi").done().events
    other = a_started_log().step().delta("Ho").said("Ho").done().events
    hall.shelf.put(the_run(said, run_id=run_id(1)), said, snapshot.fold(run_id(1), other))
    hall.shelf.put(the_run(said, run_id=run_id(2)), said, snapshot.fold(run_id(2), said))

    assert hall.codes() == {run_id(1): {Code.ARCHIVE_DIFFERS}}
