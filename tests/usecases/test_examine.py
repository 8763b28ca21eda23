"""The doctor: every kind of finding is tripped by something that lies wrong in the table, and sound runs by nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.models.scripted import Dies, Turn
from chalicelib.core import doctor, snapshot
from chalicelib.core.case import Case, Code, Finding, Listing
from chalicelib.core.doctor import OVERDUE
from chalicelib.core.events import Event, EventType
from chalicelib.core.retention import ERASED_AFTER
from chalicelib.core.run import Run, Slot, Status
from chalicelib.ports.audit import Audit
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases.archive import archive_old
from chalicelib.usecases.examine import TO_END, examine
from tests.builders import RUN_ID, run_id
from tests.core.a_log import NOON, a_log, a_started_log
from tests.shelf import A_DAY, Shelf, the_run, the_words
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RecordingWorkflow, Tool, Workshop, asks
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOG = the_words().done().events
UNFINISHED = the_words().events
ARCHIVE = snapshot.fold(RUN_ID, LOG)


class OtherChance(CountedChance):
    """Gives no write id that stands in a log of `a_log`."""

    def write_id(self) -> str:
        return f"doctor-{super().write_id()}"


@dataclass
class Practice:
    """A doctor, and the table that is to be looked at."""

    shelf: Shelf
    workflow: RecordingWorkflow = field(default_factory=RecordingWorkflow)
    account_id: str = "acme"
    audit: Audit | None = None

    def findings(self, *, repair: bool = False) -> list[Finding]:
        """Page by page to the end, two runs a page."""
        found: list[Finding] = []
        place: str | None = None
        while True:
            page = examine(
                account_id=self.account_id,
                repair=repair,
                limit=2,
                next=place,
                runs=self.shelf.runs,
                slots=self.shelf.slots,
                audit=self.audit or self.shelf.audit,
                workflow=self.workflow,
                clock=self.shelf.time,
                chance=OtherChance(),
            )
            found += page.findings
            place = page.next
            if place is None:
                return found

    @property
    def codes(self) -> set[Code]:
        return {finding.code for finding in self.findings()}


@pytest.fixture
def practice(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> Practice:
    return Practice(Shelf(dynamodb, table, payloads, VirtualTime(NOON + timedelta(minutes=1))))


def test_sound_runs_have_no_findings(practice: Practice) -> None:
    logs = [a_log().accepted(), a_started_log().step().delta("Hi"), a_started_log().waiting(), the_words().done()]
    for number, words in enumerate(logs):
        practice.shelf.put(the_run(words.events, run_id=run_id(number)), words.events)

    assert practice.findings() == []


def test_nor_has_one_that_is_being_archived_or_is_it(practice: Practice) -> None:
    for number, left in enumerate([LOG, LOG[5:], LOG[-1:], []]):
        practice.shelf.put(the_run(LOG, run_id=run_id(number)), left, ARCHIVE)
    archived = the_run(LOG, run_id=run_id(9), archived_at=NOON)
    practice.shelf.put(archived, [], ARCHIVE)

    assert practice.findings() == []


def test_a_run_that_workers_brought_to_its_end_is_sound_before_and_after_its_archive(
    dynamodb: DynamoDBClient, table: str, payloads: PayloadStore
) -> None:
    time = VirtualTime()
    shelf = Shelf(dynamodb, table, payloads, time)
    shop = Workshop(shelf.runs, shelf.slots, time, (asks("look", text="I look. "), asks(text="All is well.")), [Tool()])
    shop.advance(steps=1)
    shop.advance()
    assert shop.run.status is Status.DONE
    practice = Practice(shelf)
    assert practice.findings() == []

    time.advance((A_DAY + timedelta(minutes=1)).total_seconds())
    archive_old(runs=shelf.runs, archives=shelf.archives, clock=time, keep_for=A_DAY)

    assert shop.run.archived_at
    assert practice.findings() == []


def test_nor_has_a_run_whose_owed_reply_and_end_were_one_transaction(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="one two three four", fault=Dies(times=9)),))
    shop.advance()
    assert shop.cancel().status is Status.CANCELLED
    reply, end = shop.log[-2:]
    assert (reply.type, reply.write_id) == (EventType.MODEL_REPLIED, end.write_id)
    case = Case(shop.run, shop.log, archive=None, listed=Listing.OLD)
    assert doctor.examine(case, shop.time.now()) == ()


def at(seq: int, log: Sequence[Event] = LOG, **changed: Any) -> list[Event]:
    """The log with one event changed."""
    return [replace(event, **changed) if event.seq == seq else event for event in log]


BROKEN_LOGS = {
    Code.START_MISSING: LOG[1:],
    Code.HOLE: [*LOG[:4], *LOG[5:]],
    Code.DOUBLE: at(7, write_id=LOG[6].write_id),
    Code.TWO_ENDS: the_words().done().done().events,
    Code.END_NOT_LAST: the_words().done().message().events,
    Code.STATUS_DIFFERS: LOG[:-1],
    Code.ATTEMPT_FALLS: at(9, attempt=1),
    Code.ATTEMPT_DIFFERS: at(LOG[-1].seq, attempt=3),
    Code.TEXT_DIFFERS: at(7, data={"step": 1, "attempt": 2, "text": "HEL"}),
    Code.SETTLED_TWICE: a_started_log().step().said("", "look").tool_began().tool_ended().tool_lost().done().events,
    Code.STARTED_TWICE: (
        a_started_log().step().said("", "look").tool_began(effect="irreversible").tool_began(effect="irreversible")
    )
    .tool_ended()
    .done()
    .events,
    Code.ANSWERED_TWICE: (
        a_started_log().step().said("", "look").asked().answered("approve").answered("deny").tool_began().tool_ended()
    )
    .done()
    .events,
}


def test_a_call_that_was_unknown_and_found_out_or_made_again_on_a_person_s_word_is_sound(practice: Practice) -> None:
    found_out = a_started_log().step().said("", "look").tool_began(effect="irreversible").tool_lost()
    found_out.asked(question="outcome").answered("happened").tool_ended().done()
    again = a_started_log().step().said("", "look").tool_began(effect="irreversible").tool_lost()
    again.asked(question="outcome").answered("retry").tool_began(effect="irreversible").tool_ended().done()
    for number, log in enumerate((found_out.events, again.events)):
        practice.shelf.put(the_run(LOG, run_id=run_id(number), attempt=1), log)

    assert practice.findings() == []


@pytest.mark.parametrize("code", BROKEN_LOGS)
def test_a_log_that_no_rule_allows_is_found_for_what_it_is(code: Code, practice: Practice) -> None:
    log = BROKEN_LOGS[code]
    attempt = 2 if code is Code.ATTEMPT_DIFFERS else max(event.attempt for event in log)
    practice.shelf.put(the_run(LOG, attempt=attempt), log)

    assert practice.codes == {code}


def set_on_run(shelf: Shelf, **attributes: Any) -> None:
    shelf.mark(keys.run(RUN_ID), **attributes)


def in_the_index(pk: str) -> dict[str, Any]:
    return {keys.DUE_PK: items.text(pk), keys.DUE_SK: items.text(keys.due_sk(NOON, RUN_ID))}


def lease_left(shelf: Shelf) -> None:
    set_on_run(shelf, lease_until=items.moment(NOON))


def question_left(shelf: Shelf) -> None:
    set_on_run(shelf, asks={"L": [items.text("ap_3")]})


def unlisted(shelf: Shelf) -> None:
    set_on_run(shelf, **{keys.DUE_PK: None, keys.DUE_SK: None})


def listed_as_unfinished(shelf: Shelf) -> None:
    set_on_run(shelf, **in_the_index(keys.due_shard(RUN_ID)))


def expiring(shelf: Shelf) -> None:
    shelf.mark(keys.event(RUN_ID, 3), **{keys.TTL: items.number(1)})


def payloads_deleted(shelf: Shelf) -> None:
    shelf.archives.delete_payloads(RUN_ID)


def archived_without_archive(shelf: Shelf) -> None:
    set_on_run(shelf, archived_at=items.moment(NOON), **{keys.DUE_PK: None, keys.DUE_SK: None})


def archive_of_less(shelf: Shelf) -> None:
    shelf.archives.keep(the_run(LOG), snapshot.fold(RUN_ID, LOG[:-1]))


def archived_with_events_left(shelf: Shelf) -> None:
    shelf.archives.keep(the_run(LOG), ARCHIVE)
    shelf.archives.close(the_run(LOG), NOON)


@pytest.mark.parametrize(
    ("breaks", "code"),
    [
        (lease_left, Code.HELD_AFTER_END),
        (question_left, Code.ASKS_AFTER_END),
        (unlisted, Code.NOT_LISTED),
        (listed_as_unfinished, Code.LISTED_WRONGLY),
        (expiring, Code.EXPIRES),
        (payloads_deleted, Code.PAYLOAD_MISSING),
        (archived_without_archive, Code.ARCHIVE_MISSING),
        (archive_of_less, Code.ARCHIVE_DIFFERS),
        (archived_with_events_left, Code.EVENTS_LEFT),
    ],
)
def test_what_is_kept_wrongly_of_an_ended_run_is_found(
    breaks: Callable[[Shelf], None], code: Code, practice: Practice
) -> None:
    practice.shelf.put(the_run(LOG), LOG)
    assert practice.findings() == []

    breaks(practice.shelf)

    assert code in practice.codes


def test_an_archive_that_says_otherwise_than_its_run_is_found(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG, status=Status.FAILED, archived_at=NOON), [], ARCHIVE)

    assert practice.codes == {Code.STATUS_DIFFERS}


def test_a_run_that_asks_something_else_than_its_log_is_found(practice: Practice) -> None:
    asking = a_started_log().step().said("", "look").asked().events
    practice.shelf.put(the_run(asking, asks=()), asking)

    assert practice.codes == {Code.ASKS_DIFFER}


def without_its_slot(shelf: Shelf) -> None:
    set_on_run(shelf, slot=None)


def slots_without_it(shelf: Shelf) -> None:
    shelf.put_slots("acme")


def slots_unlisted(shelf: Shelf) -> None:
    shelf.mark(keys.slots("acme"), **{keys.DUE_PK: None, keys.DUE_SK: None})


@pytest.mark.parametrize(
    ("breaks", "code"),
    [
        (without_its_slot, Code.SLOT_DIFFERS),
        (slots_without_it, Code.SLOT_MISSING),
        (slots_unlisted, Code.SLOT_MISSING),
    ],
)
def test_a_run_at_work_whose_slot_is_not_kept_is_found(
    breaks: Callable[[Shelf], None], code: Code, practice: Practice
) -> None:
    practice.shelf.put(the_run(UNFINISHED), UNFINISHED)
    assert practice.findings() == []

    breaks(practice.shelf)

    assert code in practice.codes


def in_line(practice: Practice, log: Sequence[Event], **fields: Any) -> Run:
    """A run that has stood in line for longer than anything else may be overdue."""
    long_ago = practice.shelf.time.now() - 2 * OVERDUE
    return practice.shelf.put(the_run(log, slot=Slot.WANTED, due_at=long_ago, **fields), log)


@pytest.mark.parametrize("began", [False, True])
def test_a_run_in_line_is_sound_and_not_overdue(began: bool, practice: Practice) -> None:
    if began:
        practice.shelf.put_slots("acme", resuming={"SS": [RUN_ID]})
        in_line(practice, a_started_log().waiting().events, waiting_for="slot")
    else:
        practice.shelf.put_slots("acme")
        in_line(practice, a_log().accepted().events)

    assert practice.findings() == []


def test_a_run_whose_wait_is_over_and_that_is_not_known_to_be_in_line_is_found(practice: Practice) -> None:
    practice.shelf.put_slots("acme")
    in_line(practice, a_started_log().waiting().events, waiting_for="slot")

    assert practice.codes == {Code.SLOT_MISSING}


def test_repair_puts_a_run_back_in_line(practice: Practice) -> None:
    practice.shelf.put_slots("acme")
    in_line(practice, a_log().accepted().events)
    unlisted(practice.shelf)

    assert [(f.code, f.repaired) for f in practice.findings(repair=True)] == [(Code.NOT_LISTED, True)]

    assert [run.run_id for run in practice.shelf.slots.line("acme", 10)] == [RUN_ID]
    assert practice.workflow.started == []


def test_the_slot_of_a_run_that_is_not_at_work_is_found_and_freed(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG)
    practice.shelf.put_slots("acme", holders={"SS": [RUN_ID, *(run_id(number) for number in range(4, 8))]})

    found = practice.findings(repair=True)

    assert {finding.code for finding in found} == {Code.SLOT_STALE}
    assert [finding.repaired for finding in found] == [True] * 5
    assert practice.shelf.slots.slots("acme").named == []
    assert practice.findings() == []


def test_an_unfinished_run_that_nothing_will_ever_look_at_is_found(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED, due_at=None), UNFINISHED)

    assert practice.codes == {Code.NOT_LISTED}


def test_an_unfinished_run_without_the_time_at_which_it_is_due_is_found(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED), UNFINISHED)
    set_on_run(practice.shelf, due_at=None)

    assert practice.codes == {Code.NOT_LISTED}


def test_an_unfinished_run_among_the_old_ones_is_found(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED), UNFINISHED)
    set_on_run(practice.shelf, **in_the_index(keys.old_shard(RUN_ID)))

    assert practice.codes == {Code.LISTED_WRONGLY}


def overdue(practice: Practice, **fields: Any) -> Run:
    due_at = practice.shelf.time.now() - OVERDUE - timedelta(seconds=1)
    return practice.shelf.put(the_run(UNFINISHED, due_at=due_at, **fields), UNFINISHED)


def test_a_run_that_the_sweeper_never_came_to_is_found(practice: Practice) -> None:
    overdue(practice)

    assert practice.codes == {Code.OVERDUE}


def test_a_held_run_is_not_overdue(practice: Practice) -> None:
    overdue(practice, lease_until=practice.shelf.time.now() + timedelta(seconds=1))

    assert practice.findings() == []


def test_an_execution_that_outlives_its_run_is_found(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG)
    practice.workflow.started = [(RUN_ID, 1)]
    assert practice.findings() == []

    practice.shelf.time.advance(TO_END.total_seconds())

    [finding] = practice.findings()
    assert (finding.run_id, finding.code) == (RUN_ID, Code.ORPHAN)


def test_the_executions_of_unfinished_and_unknown_runs_are_none_of_its_business(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED), UNFINISHED)
    practice.workflow.started = [(RUN_ID, 1), (run_id(5), 1), (run_id(6), 1)]
    practice.shelf.time.advance(TO_END.total_seconds())

    assert practice.findings() == []


def test_an_execution_older_than_its_run_s_is_found_once_it_had_time_to_notice(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED, start=3, token="the newer one's"), UNFINISHED)
    practice.workflow.started = [(RUN_ID, 2), (RUN_ID, 3)]
    practice.workflow.began_at = practice.shelf.time.now() - TO_END
    assert practice.findings() == []

    practice.shelf.time.advance(1)

    [finding] = practice.findings(repair=True)
    assert (finding.code, finding.repaired) == (Code.ORPHAN, False)
    assert "execution 2" in finding.detail
    assert practice.workflow.woken == [], "what wakes the newer one is not for the older"


def test_the_execution_of_a_deleted_run_is_found_as_long_as_the_run_is_there(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG, deleted_at=practice.shelf.time.now()), LOG)
    practice.workflow.started = [(RUN_ID, 1)]
    practice.shelf.time.advance(TO_END.total_seconds())

    assert practice.codes == {Code.ORPHAN}


def test_another_account_s_runs_are_not_looked_at(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG[1:])
    practice.workflow.started = [(RUN_ID, 1)]
    practice.shelf.time.advance(TO_END.total_seconds())
    practice.account_id = "else"

    assert practice.findings() == []


@dataclass
class Hasty:
    """An audit that read one page of the log before a write and the next one after it."""

    audit: Audit
    first: Case | None

    def case(self, run_id: str) -> Case | None:
        torn, self.first = self.first, None
        return torn or self.audit.case(run_id)

    def deleted(self, account_id: str, limit: int, after: str | None) -> tuple[Sequence[str], str | None]:
        return self.audit.deleted(account_id, limit, after)

    def relist(self, run: Run) -> bool:
        return self.audit.relist(run)


def test_what_a_second_look_does_not_confirm_is_no_finding(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG)
    torn = practice.shelf.audit.case(RUN_ID)
    assert torn is not None
    practice.audit = Hasty(practice.shelf.audit, replace(torn, events=torn.events[:-1]))

    assert practice.findings() == []


def deleted(shelf: Shelf, number: int = 1, **fields: Any) -> Run:
    """A run that was deleted just now, with a log that is half erased."""
    return shelf.put(the_run(LOG, run_id=run_id(number), deleted_at=shelf.time.now(), **fields), LOG[3:])


def test_a_run_that_is_being_erased_is_not_broken_whatever_is_left_of_it(practice: Practice) -> None:
    for number, fields in enumerate([{}, {"archived_at": NOON}]):
        deleted(practice.shelf, number, **fields)
    practice.shelf.put(the_run(LOG, run_id=run_id(5), deleted_at=practice.shelf.time.now()), [], ARCHIVE)
    practice.shelf.payloads.delete_under("payloads/")
    practice.shelf.time.sleep((ERASED_AFTER + OVERDUE).total_seconds())

    assert practice.findings() == []


def test_deleted_runs_that_nobody_erases_are_found_on_every_page(practice: Practice) -> None:
    for number in range(5):
        deleted(practice.shelf, number)
    practice.shelf.time.sleep((ERASED_AFTER + OVERDUE).total_seconds() + 1)

    found = practice.findings()

    assert [(each.run_id, each.code) for each in found] == [(run_id(each), Code.OVERDUE) for each in range(5)]


def test_repair_lists_a_deleted_run_where_the_tick_finds_it(practice: Practice) -> None:
    deleted(practice.shelf)
    unlisted(practice.shelf)

    assert [(f.code, f.repaired) for f in practice.findings(repair=True)] == [(Code.NOT_LISTED, True)]

    assert practice.findings() == []
    assert [run.run_id for run in practice.shelf.archives.deleted(NOON + A_DAY, 10)] == [RUN_ID]


def test_repair_does_not_list_anew_what_was_deleted_meanwhile(practice: Practice) -> None:
    read = practice.shelf.put(the_run(LOG), LOG)
    practice.shelf.runs.delete(read, NOON)

    assert not practice.shelf.audit.relist(read)


def test_repair_lists_an_ended_run_where_the_archiver_finds_it(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG)
    unlisted(practice.shelf)

    assert [(f.code, f.repaired) for f in practice.findings(repair=True)] == [(Code.NOT_LISTED, True)]

    assert practice.findings() == []
    assert [run.run_id for run in practice.shelf.archives.old(NOON + A_DAY, 10)] == [RUN_ID]


def test_repair_starts_a_run_that_was_forgotten(practice: Practice) -> None:
    practice.shelf.put(the_run(UNFINISHED, due_at=None, start=4), UNFINISHED)

    assert [finding.repaired for finding in practice.findings(repair=True)] == [True]

    assert practice.workflow.started == [(RUN_ID, 5)]
    assert practice.findings() == []


def test_repair_confirms_a_cancel_that_nobody_confirmed(practice: Practice) -> None:
    log = the_words().cancelling().events
    practice.shelf.put(the_run(log, due_at=None), log)

    assert [finding.repaired for finding in practice.findings(repair=True)] == [True]

    assert practice.shelf.run(RUN_ID).status is Status.CANCELLED
    assert practice.findings() == []


def test_repair_leaves_a_run_to_its_holder(practice: Practice) -> None:
    until = practice.shelf.time.now() + timedelta(seconds=10)
    practice.shelf.put(the_run(UNFINISHED, due_at=None, lease_until=until), UNFINISHED)

    assert [finding.repaired for finding in practice.findings(repair=True)] == [False]
    assert practice.workflow.started == []


def test_repair_wakes_an_execution_that_waits_for_an_ended_run(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG, token="token-1"), LOG)
    practice.workflow.started = [(RUN_ID, 1)]
    practice.shelf.time.advance(TO_END.total_seconds())

    assert [finding.repaired for finding in practice.findings(repair=True)] == [True]
    assert practice.workflow.woken == ["token-1"]


def test_repair_touches_no_log(practice: Practice) -> None:
    practice.shelf.put(the_run(LOG), LOG[1:])

    assert [finding.repaired for finding in practice.findings(repair=True)] == [False]
    assert len(practice.shelf.sort_keys(RUN_ID)) == len(LOG)


def test_without_repair_nothing_is_changed(practice: Practice) -> None:
    overdue(practice)
    before = practice.shelf.run(RUN_ID)

    practice.findings()

    assert practice.shelf.run(RUN_ID) == before
    assert practice.workflow.started == []
