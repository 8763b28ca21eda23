"""One event, one conditional put: the counter and the fence."""

from __future__ import annotations

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.errors import Collision, Unavailable
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.fence import Verdict, judge
from chalicelib.core.run import Run, Trigger
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost, never_arrives, refused_with
from tests.builders import NOON, RUN_ID, a_held_run, a_move, a_run, accepted, an_event


@pytest.fixture
def run(runs: DynamoRunStore) -> Run:
    """A run that its first attempt holds; its log is 0 and 1."""
    runs.create(a_run(), accepted(), None)
    taking = lease.take(a_run(), tail=0, now=NOON, write_id="taking")
    runs.commit(taking)
    return taking.after


def log_of(runs: DynamoRunStore) -> list[Event]:
    return runs.log(RUN_ID)[1]


def met(runs: DynamoRunStore, run: Run, event: Event) -> Event:
    """What stands where the event wanted to be."""
    with pytest.raises(Collision) as collision:
        runs.append(run, event)
    return collision.value.found


def test_an_append_is_one_put(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    before = len(line.sent)

    runs.append(run, an_event(2, text="hi"))

    assert [sent.operation for sent in line.sent[before:]] == ["put_item"]


def test_of_two_writers_at_one_seq_one_wins_and_the_other_learns_of_it(runs: DynamoRunStore, run: Run) -> None:
    first, second = an_event(2, text="mine"), an_event(2, text="no, mine")

    runs.append(run, first)

    assert met(runs, run, second) == first
    assert log_of(runs)[-1] == first


def test_a_write_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    event = an_event(2, text="hi")
    line.meets(answer_lost())

    runs.append(run, event)

    assert log_of(runs)[2:] == [event]


def test_so_it_is_when_others_have_written_behind_it(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    event, message = an_event(2, text="hi"), an_event(3, EventType.MESSAGE_ADDED, attempt=OUTSIDE)
    line.meets(answer_lost(meanwhile=lambda: runs.append(run, message)))

    runs.append(run, event)

    assert log_of(runs)[2:] == [event, message]


def test_a_write_that_never_arrived_is_sent_again_as_it_was(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    line.meets(never_arrives)

    runs.append(run, an_event(2, text="hi"))

    first, second = line.sent[-2:]
    assert first == second
    assert len(log_of(runs)) == 3


def test_a_conflict_with_a_transaction_is_no_collision(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    event = an_event(2, text="hi")
    line.meets(refused_with("TransactionConflictException"), refused_with("TransactionConflictException"))

    runs.append(run, event)

    assert log_of(runs)[2:] == [event]


def test_a_service_that_stays_away_is_told_from_a_lost_race(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    line.meets(*[refused_with("ThrottlingException")] * 6)

    with pytest.raises(Unavailable):
        runs.append(run, an_event(2, text="hi"))

    assert len(log_of(runs)) == 2


def test_behind_the_end_nothing_is_written(runs: DynamoRunStore, run: Run) -> None:
    finishing = a_move(run, Trigger.FINISH, tail=1)
    runs.commit(finishing)

    found = met(runs, run, an_event(2, text="late"))

    assert judge(found) is Verdict.ENDED
    assert log_of(runs)[-1] == finishing.event


def test_after_a_takeover_the_first_holder_writes_nothing(runs: DynamoRunStore, run: Run) -> None:
    takeover = lease.take(run, tail=1, now=NOON + lease.LEASE, write_id="takeover")
    runs.commit(takeover)

    found = met(runs, run, an_event(2, text="I was asleep"))

    assert found == takeover.event
    assert judge(found) is Verdict.FENCED


def test_after_a_cancel_the_holder_learns_of_it_at_its_next_append(runs: DynamoRunStore, run: Run) -> None:
    runs.commit(a_move(run, Trigger.CANCEL, tail=1, attempt=OUTSIDE))

    found = met(runs, run, an_event(2, EventType.TOOL_STARTED))

    assert judge(found) is Verdict.CANCELLING


def test_a_message_that_came_first_is_taken_in(runs: DynamoRunStore, run: Run) -> None:
    runs.append(run, an_event(2, EventType.MESSAGE_ADDED, attempt=OUTSIDE, text="and that?"))

    found = met(runs, run, an_event(2, EventType.STEP_STARTED))

    assert judge(found) is Verdict.NEWS
    assert found.data == {"text": "and that?"}


def test_a_late_copy_of_a_write_changes_nothing(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    runs.append(run, an_event(2, text="hi"))
    copy = line.sent[-1]
    runs.append(run, an_event(3, text=" there"))
    before = log_of(runs)

    line.repeat(copy)

    assert log_of(runs) == before


def test_a_twin_with_the_same_attempt_is_a_stranger(runs: DynamoRunStore, run: Run) -> None:
    mine = an_event(2, attempt=a_held_run().attempt)
    runs.append(run, an_event(2, attempt=mine.attempt))

    assert judge(met(runs, run, mine), mine.write_id) is Verdict.FENCED
