"""Reading a log: one Query a page, the whole unbroken log, its tail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core.events import Event
from tests.adapters.dynamodb.bad_line import BadLine, never_arrives
from tests.builders import RUN_ID, a_run, accepted, an_event

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LENGTH = 12


@pytest.fixture
def log(runs: DynamoRunStore) -> list[Event]:
    """A log of twelve events."""
    first = accepted()
    runs.create(a_run(), first, None)
    others = [an_event(seq, text=f"word {seq}") for seq in range(1, LENGTH)]
    for event in others:
        runs.append(a_run(), event)
    return [first, *others]


@contextmanager
def requests(client: DynamoDBClient) -> Iterator[list[str]]:
    """What botocore sends, as it sends it."""
    seen: list[str] = []

    def see(model: Any, **_: Any) -> None:
        seen.append(model.name)

    client.meta.events.register("before-call.dynamodb", see)
    yield seen
    client.meta.events.unregister("before-call.dynamodb", see)


@pytest.mark.parametrize("since", [-1, 0, 5, LENGTH - 1, 10**10])
@pytest.mark.parametrize("limit", [1, 100])
def test_a_page_is_one_query_whatever_it_finds(
    runs: DynamoRunStore, log: list[Event], dynamodb: DynamoDBClient, since: int, limit: int
) -> None:
    with requests(dynamodb) as sent:
        runs.page(RUN_ID, since, limit)

    assert sent == ["Query"]


def test_what_a_page_looks_at_does_not_grow_with_the_log(runs: DynamoRunStore, log: list[Event], line: BadLine) -> None:
    runs.page(RUN_ID, 3, 2)

    request = line.sent[-1].request
    assert request["Limit"] == 4
    assert request["ExpressionAttributeValues"][":first"] == {"S": "EVENT#0000000003"}
    assert request["ConsistentRead"] is False


def test_a_page_from_the_start_has_the_first_events(runs: DynamoRunStore, log: list[Event]) -> None:
    page = runs.page(RUN_ID, -1, 5)

    assert list(page.events) == log[:5]
    assert page.run is None


def test_a_page_begins_with_the_cursors_own_event(runs: DynamoRunStore, log: list[Event]) -> None:
    page = runs.page(RUN_ID, 3, 5)

    assert list(page.events) == log[3:9]
    assert page.run is None


def test_a_page_that_reaches_the_end_brings_the_run_along(runs: DynamoRunStore, log: list[Event]) -> None:
    assert runs.page(RUN_ID, 6, 5).run == a_run()
    assert list(runs.page(RUN_ID, 6, 5).events) == log[6:]
    assert runs.page(RUN_ID, -1, LENGTH).run == a_run()
    assert runs.page(RUN_ID, -1, LENGTH - 1).run is None


def test_a_full_page_says_whose_it_is(runs: DynamoRunStore, log: list[Event]) -> None:
    assert runs.page(RUN_ID, -1, 1).account_id == "acme"


def test_at_the_tail_there_is_the_last_event_and_the_run(runs: DynamoRunStore, log: list[Event]) -> None:
    page = runs.page(RUN_ID, LENGTH - 1, 5)

    assert list(page.events) == log[-1:]
    assert page.run == a_run()


def test_ahead_of_the_log_there_is_the_run_alone(runs: DynamoRunStore, log: list[Event]) -> None:
    page = runs.page(RUN_ID, LENGTH, 5)

    assert (page.events, page.run, page.account_id) == ((), a_run(), "acme")


def test_of_no_run_there_is_nothing(runs: DynamoRunStore) -> None:
    page = runs.page(RUN_ID, -1, 5)

    assert (page.events, page.run, page.account_id) == ((), None, None)
    assert runs.log(RUN_ID) == (None, [])
    assert runs.tail(RUN_ID) is None


def without(table: str, dynamodb: DynamoDBClient, seq: int) -> None:
    dynamodb.delete_item(TableName=table, Key=items.key(keys.event(RUN_ID, seq)))


def test_a_page_whose_cursor_is_gone_is_no_longer_than_it_was_asked_to_be(
    runs: DynamoRunStore, log: list[Event], dynamodb: DynamoDBClient, table: str
) -> None:
    without(table, dynamodb, 8)

    page = runs.page(RUN_ID, 8, 2)

    assert list(page.events) == log[9:12]
    assert page.run is None or len(page.events) <= 3


def test_a_page_may_be_read_strongly(runs: DynamoRunStore, log: list[Event], line: BadLine) -> None:
    runs.page(RUN_ID, 3, 5, strong=True)

    assert line.sent[-1].request["ConsistentRead"] is True


def test_the_log_is_read_whole_and_strongly(runs: DynamoRunStore, log: list[Event], line: BadLine) -> None:
    assert runs.log(RUN_ID) == (a_run(), log)
    assert line.sent[-1].request["ConsistentRead"] is True


def test_the_log_after_a_cursor_leaves_the_cursor_out(runs: DynamoRunStore, log: list[Event]) -> None:
    assert runs.log(RUN_ID, 4) == (a_run(), log[5:])
    assert runs.log(RUN_ID, LENGTH - 1) == (a_run(), [])


def test_a_log_longer_than_one_answer_is_read_in_several(runs: DynamoRunStore, line: BadLine) -> None:
    """An answer of DynamoDB ends at a megabyte."""
    first = accepted()
    runs.create(a_run(), first, None)
    long = [an_event(seq, text="x" * 30_000) for seq in range(1, 41)]
    for event in long:
        runs.append(a_run(), event)
    before = len(line.sent)

    assert runs.log(RUN_ID) == (a_run(), [first, *long])
    assert len(line.sent) - before > 1


def test_of_a_log_with_a_hole_only_what_is_before_it_is_given(
    runs: DynamoRunStore, log: list[Event], dynamodb: DynamoDBClient, table: str
) -> None:
    without(table, dynamodb, 5)

    assert runs.log(RUN_ID) == (a_run(), log[:5])


def test_the_tail_is_one_strong_query(runs: DynamoRunStore, log: list[Event], line: BadLine) -> None:
    before = len(line.sent)

    assert runs.tail(RUN_ID) == (a_run(), log[-1])

    assert [sent.operation for sent in line.sent[before:]] == ["query"]
    assert line.sent[-1].request["ConsistentRead"] is True
    assert line.sent[-1].request["Limit"] == 2


def test_a_read_that_gets_no_answer_is_made_again(runs: DynamoRunStore, log: list[Event], line: BadLine) -> None:
    line.meets(never_arrives, never_arrives)

    assert runs.tail(RUN_ID) == (a_run(), log[-1])
