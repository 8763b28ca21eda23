"""A new run: itself, its first event and its idempotency key, or nothing of them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core.errors import Collision
from chalicelib.ports.run_store import Claim, KeyTaken
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost, cancelled_for
from tests.builders import NOON, a_run, accepted, run_id

A_DAY = timedelta(hours=24)


def a_claim(digest: str = "digest", *, key: str = "key-1", until: datetime = NOON + A_DAY) -> Claim:
    return Claim(key, digest, until)


ONE, TWO = a_run(run_id=run_id(1)), a_run(run_id=run_id(2))


def test_a_new_run_stands_with_its_first_event(runs: DynamoRunStore) -> None:
    first = accepted()

    runs.create(ONE, first, a_claim())

    assert runs.log(ONE.run_id) == (ONE, [first])


def test_a_key_makes_one_run_and_says_which(runs: DynamoRunStore) -> None:
    runs.create(ONE, accepted(), a_claim("digest"))

    with pytest.raises(KeyTaken) as taken:
        runs.create(TWO, accepted(), a_claim("another digest"))

    assert (taken.value.run_id, taken.value.payload_digest) == (ONE.run_id, "digest")
    assert runs.log(TWO.run_id) == (None, [])


def test_keys_of_two_accounts_do_not_meet(runs: DynamoRunStore) -> None:
    runs.create(ONE, accepted(), a_claim())

    runs.create(a_run(run_id=TWO.run_id, account_id="other"), accepted(), a_claim())

    assert runs.tail(TWO.run_id) is not None


def test_a_key_whose_time_has_passed_counts_no_more_though_it_still_stands(runs: DynamoRunStore) -> None:
    runs.create(ONE, accepted(), a_claim())
    day_after = a_run(run_id=TWO.run_id, created_at=NOON + A_DAY)

    runs.create(day_after, accepted(), a_claim(until=NOON + 2 * A_DAY))

    with pytest.raises(KeyTaken) as taken:
        runs.create(a_run(run_id=run_id(3), created_at=NOON + A_DAY), accepted(), a_claim())
    assert taken.value.run_id == TWO.run_id


def test_a_key_counts_until_its_very_last_moment(runs: DynamoRunStore) -> None:
    runs.create(ONE, accepted(), a_claim(until=NOON + A_DAY + timedelta(milliseconds=1)))

    with pytest.raises(KeyTaken):
        runs.create(a_run(run_id=TWO.run_id, created_at=NOON + A_DAY), accepted(), a_claim())


def test_a_creation_whose_answer_was_lost_is_a_success(runs: DynamoRunStore, line: BadLine) -> None:
    line.meets(answer_lost())

    runs.create(ONE, accepted(), a_claim())

    assert runs.tail(ONE.run_id) is not None


def test_so_it_is_when_only_the_key_is_shown_to_stand(runs: DynamoRunStore, line: BadLine) -> None:
    first = accepted()
    runs.create(ONE, first, None)
    line.meets(cancelled_for("None", "ConditionalCheckFailed", "None"))

    runs.create(ONE, first, a_claim())

    assert line.sent[-1].operation == "get_item"


def test_two_requests_with_one_key_at_the_same_moment_make_one_run(runs: DynamoRunStore, line: BadLine) -> None:
    """The first transaction is under way: the second meets a conflict, tries again and finds the key taken."""
    line.meets(cancelled_for("None", "None", "TransactionConflict"))
    with_key = a_claim()
    runs.create(ONE, accepted(), with_key)
    line.meets(cancelled_for("None", "None", "TransactionConflict"))

    with pytest.raises(KeyTaken):
        runs.create(TWO, accepted(), with_key)


def test_a_known_run_id_with_anothers_first_event_is_a_collision(runs: DynamoRunStore) -> None:
    first = accepted()
    runs.create(ONE, first, None)

    with pytest.raises(Collision) as collision:
        runs.create(ONE, accepted(), None)

    assert collision.value.found == first
