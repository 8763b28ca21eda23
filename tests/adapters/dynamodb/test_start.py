"""What is written on the run besides its status and its lease: its executions, what wakes them, who follows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.answer import answer
from chalicelib.core.errors import RunMoved
from chalicelib.core.events import OUTSIDE, EventType
from chalicelib.core.run import Run, Status, Trigger
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, RUN_ID, a_move, a_run, a_stamp, accepted

SOON = NOON + timedelta(minutes=2)
WAKE_AT = NOON + timedelta(minutes=10)


@pytest.fixture
def pending(runs: DynamoRunStore) -> Run:
    runs.create(a_run(), accepted(), None)
    return a_run()


@pytest.fixture
def waiting(runs: DynamoRunStore, pending: Run) -> Run:
    """A run whose `run.waiting` is seq 2."""
    taking = lease.take(pending, tail=0, now=NOON, write_id="taking")
    runs.commit(taking)
    wait: dict[str, Any] = {"waiting_for": "approval", "waiting_seq": 2, "wake_at": WAKE_AT, "due_at": SOON}
    asking = a_move(taking.after, Trigger.WAIT, tail=1, **wait)
    runs.commit(asking)
    return asking.after


def standing(runs: DynamoRunStore) -> Run:
    found = runs.tail(RUN_ID)
    assert found is not None
    return found[0]


def test_a_start_is_counted_and_the_run_is_looked_at_later(runs: DynamoRunStore, pending: Run) -> None:
    raised = runs.raise_start(pending, SOON)

    assert raised == replace(pending, start=2, due_at=SOON)
    assert standing(runs) == raised


def test_of_two_that_count_from_the_same_number_one_wins(runs: DynamoRunStore, pending: Run) -> None:
    runs.raise_start(pending, SOON)

    with pytest.raises(RunMoved):
        runs.raise_start(pending, SOON)

    assert standing(runs).start == 2


def test_a_count_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, pending: Run, line: BadLine) -> None:
    line.meets(answer_lost())

    assert runs.raise_start(pending, SOON).start == 2
    assert standing(runs).start == 2


def test_but_not_if_somebody_has_counted_on_since(runs: DynamoRunStore, pending: Run, line: BadLine) -> None:
    line.meets(answer_lost(lambda: runs.raise_start(replace(pending, start=2), SOON)))

    with pytest.raises(RunMoved):
        runs.raise_start(pending, SOON)

    assert standing(runs).start == 3


def test_an_ended_run_gets_no_start_and_is_not_due_again(runs: DynamoRunStore, pending: Run) -> None:
    runs.commit(a_move(pending, Trigger.CANCEL, tail=0, attempt=OUTSIDE))

    with pytest.raises(RunMoved):
        runs.raise_start(pending, SOON)

    assert standing(runs).due_at is None


def test_a_run_that_was_taken_meanwhile_gets_no_start(runs: DynamoRunStore, pending: Run) -> None:
    runs.commit(lease.take(pending, tail=0, now=NOON, write_id="taking"))

    with pytest.raises(RunMoved):
        runs.raise_start(pending, SOON)

    assert standing(runs).start == 1


def test_a_token_is_kept_and_the_run_is_due_when_its_wait_is_over(runs: DynamoRunStore, waiting: Run) -> None:
    runs.keep_token(waiting, "token")

    assert standing(runs) == replace(waiting, token="token", due_at=WAKE_AT)
    assert runs.due(SOON + timedelta(minutes=1), 10) == []


def test_a_token_whose_answer_was_lost_is_kept(runs: DynamoRunStore, waiting: Run, line: BadLine) -> None:
    line.meets(answer_lost())

    runs.keep_token(waiting, "token")

    assert standing(runs).token == "token"


def test_a_wait_with_an_answer_keeps_no_token(runs: DynamoRunStore, waiting: Run) -> None:
    answered = answer(waiting, EventType.MESSAGE_ADDED, {"text": "yes"}, tail=2, stamp=a_stamp())
    runs.commit(answered)

    with pytest.raises(RunMoved):
        runs.keep_token(waiting, "token")

    assert standing(runs) == answered.after


def test_of_two_answers_the_first_stands(runs: DynamoRunStore, waiting: Run) -> None:
    runs.commit(answer(waiting, EventType.MESSAGE_ADDED, {"text": "yes"}, tail=2, stamp=a_stamp()))

    with pytest.raises(RunMoved):
        runs.commit(answer(waiting, EventType.MESSAGE_ADDED, {"text": "no"}, tail=3, stamp=a_stamp()))


def test_a_late_token_does_not_replace_that_of_a_newer_execution(runs: DynamoRunStore, waiting: Run) -> None:
    newer = runs.raise_start(waiting, SOON)
    runs.keep_token(newer, "new")

    with pytest.raises(RunMoved):
        runs.keep_token(waiting, "old")

    assert standing(runs).token == "new"


def test_nor_that_of_a_newer_wait(runs: DynamoRunStore, waiting: Run) -> None:
    taking = lease.take(waiting, tail=2, now=WAKE_AT, write_id="again")
    runs.commit(taking)
    asking = a_move(
        taking.after, Trigger.WAIT, tail=3, waiting_for="approval", waiting_seq=4, wake_at=WAKE_AT, due_at=SOON
    )
    runs.commit(asking)

    with pytest.raises(RunMoved):
        runs.keep_token(waiting, "old")

    assert standing(runs).token is None


def test_a_run_is_noted_as_watched_and_never_backwards(runs: DynamoRunStore, pending: Run) -> None:
    runs.stamp_watched(RUN_ID, SOON)
    runs.stamp_watched(RUN_ID, NOON)

    assert standing(runs).watched_until == SOON


def test_an_ended_run_is_not_watched(runs: DynamoRunStore, pending: Run) -> None:
    runs.commit(a_move(pending, Trigger.CANCEL, tail=0, attempt=OUTSIDE))

    runs.stamp_watched(RUN_ID, SOON)

    assert standing(runs).watched_until is None
    assert standing(runs).status is Status.CANCELLED


def test_a_run_that_is_not_there_is_not_watched_into_being(runs: DynamoRunStore) -> None:
    runs.stamp_watched(RUN_ID, SOON)

    assert runs.page(RUN_ID, -1, 10).account_id is None
