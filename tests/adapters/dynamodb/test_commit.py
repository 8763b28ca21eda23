"""A change of status and the event that tells of it: both or neither."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.errors import Collision, RunMoved, Unavailable
from chalicelib.core.events import OUTSIDE, EventType
from chalicelib.core.run import Run, Status, Trigger
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost, cancelled_for
from tests.builders import NOON, RUN_ID, a_move, a_run, accepted, an_event

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def run(runs: DynamoRunStore) -> Run:
    """A pending run; its log is 0."""
    runs.create(a_run(), accepted(), None)
    return a_run()


@pytest.fixture
def held(runs: DynamoRunStore, run: Run) -> Run:
    """The same, held by its first attempt; its log is 0 and 1."""
    taking = lease.take(run, tail=0, now=NOON, write_id="taking")
    runs.commit(taking)
    return taking.after


def standing(runs: DynamoRunStore) -> tuple[Run, list[EventType]]:
    run, log = runs.log(RUN_ID)
    assert run is not None
    return run, [event.type for event in log]


def test_of_two_writers_from_the_same_before_one_wins(runs: DynamoRunStore, run: Run) -> None:
    one = lease.take(run, tail=0, now=NOON, write_id="one")
    two = lease.take(run, tail=0, now=NOON, write_id="two")

    runs.commit(one)
    with pytest.raises(Collision) as collision:
        runs.commit(two)

    assert collision.value.found == one.event
    assert standing(runs) == (one.after, [EventType.RUN_ACCEPTED, EventType.RUN_STARTED])


def test_a_change_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    taking = lease.take(run, tail=0, now=NOON, write_id="one")
    line.meets(answer_lost())

    runs.commit(taking)

    assert standing(runs) == (taking.after, [EventType.RUN_ACCEPTED, EventType.RUN_STARTED])


def test_so_it_is_when_the_run_has_moved_on_since(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    taking = lease.take(run, tail=0, now=NOON, write_id="one")
    cancelling = a_move(taking.after, Trigger.CANCEL, tail=1, attempt=OUTSIDE)
    line.meets(answer_lost(meanwhile=lambda: runs.commit(cancelling)))

    runs.commit(taking)

    assert standing(runs)[0].status is Status.CANCELLING


def test_a_moved_run_refuses_a_change_whose_seq_is_free(runs: DynamoRunStore, held: Run) -> None:
    stale = replace(held, status=Status.STREAMING)

    with pytest.raises(RunMoved):
        runs.commit(a_move(stale, Trigger.FINISH, tail=1))

    assert standing(runs)[0] == held


def test_a_plain_event_at_the_seq_stops_a_change(runs: DynamoRunStore, held: Run) -> None:
    delta = an_event(2, text="hi")
    runs.append(held, delta)

    with pytest.raises(Collision) as collision:
        runs.commit(a_move(held, Trigger.CANCEL, tail=1, attempt=OUTSIDE))

    assert collision.value.found == delta
    assert standing(runs)[0].status is Status.RUNNING


def test_a_renewal_in_between_saves_the_holder(runs: DynamoRunStore, held: Run) -> None:
    runs.renew(lease.renewed(held, NOON + timedelta(seconds=29)))

    with pytest.raises(RunMoved):
        runs.commit(lease.take(held, tail=1, now=NOON + lease.LEASE, write_id="takeover"))

    assert standing(runs)[0].attempt == 1


def test_a_change_under_the_lease_guard_fails_where_a_lease_has_appeared(runs: DynamoRunStore, held: Run) -> None:
    unheld = replace(held, lease_until=None)

    with pytest.raises(RunMoved):
        runs.commit(a_move(unheld, Trigger.FAIL, tail=1, attempt=OUTSIDE, guards=NOBODY_HOLDS_IT))


def test_an_ended_run_takes_nothing(runs: DynamoRunStore, held: Run) -> None:
    runs.commit(a_move(held, Trigger.FINISH, tail=1))

    with pytest.raises(Collision):
        runs.commit(a_move(held, Trigger.CANCEL, tail=1, attempt=OUTSIDE))
    with pytest.raises(RunMoved):
        runs.commit(a_move(held, Trigger.CANCEL, tail=2, attempt=OUTSIDE))

    assert standing(runs)[0].status is Status.DONE


def test_what_the_change_does_not_touch_is_left_alone(runs: DynamoRunStore, held: Run) -> None:
    """The holder knows nothing of the poll that has stamped the run as watched, nor of a renewal beside its work."""
    watched_until = NOON + timedelta(seconds=15)
    runs.stamp_watched(RUN_ID, watched_until)
    renewed = runs.renew(lease.renewed(held, NOON + timedelta(seconds=10)))

    runs.commit(a_move(held, Trigger.FIRST_TOKEN, tail=1))

    run, _ = standing(runs)
    assert (run.watched_until, run.lease_until) == (watched_until, renewed.lease_until)


def test_an_ended_run_moves_from_what_is_due_to_what_will_be_old(
    runs: DynamoRunStore, held: Run, dynamodb: DynamoDBClient, table: str
) -> None:
    runs.commit(a_move(held, Trigger.FINISH, tail=1))

    item = dynamodb.get_item(TableName=table, Key=items.key(keys.run(RUN_ID)))["Item"]
    assert item[keys.DUE_PK]["S"] == keys.old_shard(RUN_ID)
    assert item[keys.DUE_SK]["S"] == keys.due_sk(NOON, RUN_ID)
    assert not {"due_at", "lease_until"} & item.keys()


def test_a_wait_moves_the_run_to_when_it_is_due(runs: DynamoRunStore, held: Run) -> None:
    wake_at = NOON + timedelta(minutes=10)

    runs.commit(
        a_move(held, Trigger.WAIT, tail=1, waiting_for="provider", waiting_seq=2, wake_at=wake_at, due_at=wake_at)
    )

    assert runs.due(NOON + timedelta(minutes=5), 10) == []
    assert [run.status for run in runs.due(NOON + timedelta(minutes=11), 10)] == [Status.WAITING]


def test_a_change_takes_the_run_to_its_place_in_the_index_wherever_it_stood(runs: DynamoRunStore, held: Run) -> None:
    """A sweeper has put the run off to a later minute; its holder, who knows nothing of it, waits for less."""
    runs.raise_start(held, NOON + timedelta(minutes=30))
    wake_at = NOON + timedelta(seconds=20)

    runs.commit(
        a_move(held, Trigger.WAIT, tail=1, waiting_for="provider", waiting_seq=2, wake_at=wake_at, due_at=wake_at)
    )

    assert [run.due_at for run in runs.due(NOON + timedelta(minutes=1), 10)] == [wake_at]


@pytest.mark.parametrize("reason", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"])
def test_traffic_is_no_lost_race(runs: DynamoRunStore, run: Run, line: BadLine, reason: str) -> None:
    taking = lease.take(run, tail=0, now=NOON, write_id="one")
    line.meets(cancelled_for("None", reason), cancelled_for(reason, reason))

    runs.commit(taking)

    assert standing(runs)[0] == taking.after
    transactions = [sent for sent in line.sent[-4:] if sent.operation == "transact_write_items"]
    assert len(transactions) == 3
    assert transactions[0] == transactions[1] == transactions[2]


def test_traffic_that_does_not_end_is_unavailable(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    line.meets(*[cancelled_for("TransactionConflict", "None")] * 6)

    with pytest.raises(Unavailable):
        runs.commit(lease.take(run, tail=0, now=NOON, write_id="one"))

    assert standing(runs)[0] == run


def test_a_transaction_that_makes_no_sense_is_our_own_mistake(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    line.meets(cancelled_for("ValidationError", "None"))

    with pytest.raises(ClientError):
        runs.commit(lease.take(run, tail=0, now=NOON, write_id="one"))


def test_what_a_cancelled_transaction_does_not_show_is_looked_up(runs: DynamoRunStore, run: Run, line: BadLine) -> None:
    """The write had worked, its answer was lost, and the repetition is refused without a word about the event."""
    taking = lease.take(run, tail=0, now=NOON, write_id="one")
    line.meets(answer_lost(), cancelled_for("None", "ConditionalCheckFailed"))

    runs.commit(taking)

    assert line.sent[-1].operation == "get_item"


def test_a_change_its_event_and_the_slot_it_takes_are_one_transaction(
    runs: DynamoRunStore, run: Run, line: BadLine
) -> None:
    runs.commit(lease.take(run, tail=0, now=NOON, write_id="one"))

    writes: list[dict[str, Any]] = line.sent[-1].request["TransactItems"]
    assert [next(iter(write)) for write in writes] == ["Put", "Update", "Update"]
    assert all(next(iter(write.values()))["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD" for write in writes)
