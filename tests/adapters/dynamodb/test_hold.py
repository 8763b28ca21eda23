"""The lease on the run's item: renewed, handed back, never revived."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.errors import LeaseLost
from chalicelib.core.events import OUTSIDE
from chalicelib.core.run import Run, Status, Trigger
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost, refused_with
from tests.builders import NOON, RUN_ID, a_move, a_run, accepted

LATER = NOON + lease.RENEW_EVERY


@pytest.fixture
def held(runs: DynamoRunStore) -> Run:
    runs.create(a_run(), accepted(), None)
    taking = lease.take(a_run(), tail=0, now=NOON, write_id="taking")
    runs.commit(taking)
    return taking.after


def standing(runs: DynamoRunStore) -> Run:
    found = runs.tail(RUN_ID)
    assert found is not None
    return found[0]


def test_a_renewal_brings_back_what_others_wrote_on_the_run(runs: DynamoRunStore, held: Run) -> None:
    runs.stamp_watched(RUN_ID, LATER)

    renewed = runs.renew(lease.renewed(held, LATER))

    assert renewed == replace(lease.renewed(held, LATER), watched_until=LATER)
    assert standing(runs) == renewed


def test_a_renewal_is_one_request(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    before = len(line.sent)

    runs.renew(lease.renewed(held, LATER))

    assert [sent.operation for sent in line.sent[before:]] == ["update_item"]


def test_a_renewal_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    line.meets(answer_lost())

    assert runs.renew(lease.renewed(held, LATER)).lease_until == LATER + lease.LEASE


def test_a_conflict_with_a_transaction_is_no_lost_lease(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    line.meets(refused_with("TransactionConflictException"))

    runs.renew(lease.renewed(held, LATER))

    first, second = line.sent[-2:]
    assert first == second


def test_a_renewal_on_its_way_does_not_revive_the_lease_of_a_run_that_waits(runs: DynamoRunStore, held: Run) -> None:
    runs.commit(a_move(held, Trigger.WAIT, tail=1, waiting_for="provider", waiting_seq=2, wake_at=LATER, due_at=LATER))

    with pytest.raises(LeaseLost):
        runs.renew(lease.renewed(held, LATER))

    assert standing(runs).lease_until is None
    assert standing(runs).due_at == LATER


def test_nor_that_of_a_run_that_was_handed_back(runs: DynamoRunStore, held: Run) -> None:
    runs.hand_back(lease.handed_back(held, NOON))

    with pytest.raises(LeaseLost):
        runs.renew(lease.renewed(held, LATER))

    assert standing(runs).lease_until is None


def test_nor_that_of_a_run_that_has_ended(runs: DynamoRunStore, held: Run) -> None:
    runs.commit(a_move(held, Trigger.FINISH, tail=1))

    with pytest.raises(LeaseLost):
        runs.renew(lease.renewed(held, LATER))

    assert standing(runs).due_at is None


def test_an_attempt_does_not_renew_the_next_ones_lease(runs: DynamoRunStore, held: Run) -> None:
    takeover = lease.take(held, tail=1, now=NOON + lease.LEASE, write_id="takeover")
    runs.commit(takeover)

    with pytest.raises(LeaseLost):
        runs.renew(lease.renewed(held, NOON + timedelta(hours=1)))
    with pytest.raises(LeaseLost):
        runs.hand_back(lease.handed_back(held, NOON))

    assert standing(runs) == takeover.after


def test_a_renewal_that_comes_late_shortens_nothing(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    runs.renew(lease.renewed(held, NOON + timedelta(seconds=1)))
    copy = line.sent[-1]
    longer = runs.renew(lease.renewed(held, LATER))

    line.repeat(copy)

    assert standing(runs) == longer


def test_a_renewal_from_a_clock_that_was_put_back_keeps_the_longer_lease(runs: DynamoRunStore, held: Run) -> None:
    longer = runs.renew(lease.renewed(held, LATER))

    assert runs.renew(lease.renewed(held, NOON)) == longer


def test_a_run_that_is_being_cancelled_stays_its_holders(runs: DynamoRunStore, held: Run) -> None:
    runs.commit(a_move(held, Trigger.CANCEL, tail=1, attempt=OUTSIDE))

    assert runs.renew(lease.renewed(held, LATER)).status is Status.CANCELLING


def test_a_run_that_is_not_there_is_not_brought_into_being(runs: DynamoRunStore) -> None:
    with pytest.raises(LeaseLost):
        runs.renew(lease.renewed(a_run(attempt=1), LATER))

    assert runs.tail(RUN_ID) is None


def test_a_run_that_was_handed_back_can_be_taken_at_once(runs: DynamoRunStore, held: Run) -> None:
    runs.hand_back(lease.handed_back(held, LATER))

    run = standing(runs)
    assert lease.may_take(run, LATER)
    assert run == replace(held, lease_until=None, due_at=LATER + lease.UNHELD_GRACE)


def test_a_hand_back_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    line.meets(answer_lost())

    runs.hand_back(lease.handed_back(held, LATER))

    assert standing(runs).lease_until is None


def test_so_it_is_when_the_next_attempt_has_taken_the_run(runs: DynamoRunStore, held: Run, line: BadLine) -> None:
    back = lease.handed_back(held, LATER)
    line.meets(answer_lost(lambda: runs.commit(lease.take(back, tail=1, now=LATER, write_id="next"))))

    runs.hand_back(back)

    assert standing(runs).attempt == 2


def test_only_the_first_of_two_hand_backs_counts(runs: DynamoRunStore, held: Run) -> None:
    runs.hand_back(lease.handed_back(held, LATER))

    with pytest.raises(LeaseLost):
        runs.hand_back(lease.handed_back(held, LATER))
