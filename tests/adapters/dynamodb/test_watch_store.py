"""Sockets and what they watch, in the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import keys
from chalicelib.adapters.dynamodb.watch_store import DynamoWatchStore
from chalicelib.core.api_key import Scope
from chalicelib.core.watch import Connection, Watch
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, RUN_ID, run_id
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

UNTIL = NOON + timedelta(minutes=5)
SOCKET = Connection("c1=", "acme", "key_1", frozenset({Scope.READ, Scope.RUN}), None, UNTIL)
WATCH = Watch("c1=", RUN_ID, "acme", 4, False, UNTIL)


@pytest.fixture
def watches(line: BadLine, table: str) -> DynamoWatchStore:
    return DynamoWatchStore(line.as_client, table, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def reads(dynamodb: DynamoDBClient) -> Iterator[list[bool]]:
    """Of every read, whether it was strong."""
    strong: list[bool] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        strong.append(params.get("ConsistentRead", False))

    events = ("before-parameter-build.dynamodb.Query", "before-parameter-build.dynamodb.GetItem")
    for event in events:
        dynamodb.meta.events.register(event, note)
    yield strong
    for event in events:
        dynamodb.meta.events.unregister(event, note)


@pytest.mark.parametrize("connection", [SOCKET, replace(SOCKET, run_id=RUN_ID)])
def test_a_connection_is_found_with_the_runs_on_it(watches: DynamoWatchStore, connection: Connection) -> None:
    watches.connect(connection)
    assert watches.connection("c1=") == (connection, frozenset())

    watches.subscribe(WATCH)
    watches.subscribe(replace(WATCH, run_id=run_id(2)))
    assert watches.connection("c1=") == (connection, frozenset({RUN_ID, run_id(2)}))
    assert watches.connection("c2=") is None


def test_a_run_knows_all_its_watches_and_no_other_run_s(watches: DynamoWatchStore) -> None:
    other = replace(WATCH, connection_id="c2=", in_full=True, sent=-1)
    for each in (WATCH, other, replace(WATCH, run_id=run_id(2))):
        watches.subscribe(each)

    assert watches.of_run(RUN_ID) == [WATCH, other]
    assert watches.find("c2=", RUN_ID) == other


def test_a_second_subscribe_takes_the_place_of_the_first(watches: DynamoWatchStore) -> None:
    watches.subscribe(WATCH)
    watches.subscribe(replace(WATCH, sent=1))

    assert watches.of_run(RUN_ID) == [replace(WATCH, sent=1)]


def test_a_cursor_moves_only_from_where_it_was_read(watches: DynamoWatchStore) -> None:
    watches.subscribe(WATCH)

    assert watches.advance(WATCH, 9)
    assert not watches.advance(WATCH, 7)
    assert watches.of_run(RUN_ID) == [replace(WATCH, sent=9)]


def test_a_cursor_whose_move_was_not_answered_is_read_again(watches: DynamoWatchStore, line: BadLine) -> None:
    watches.subscribe(WATCH)
    line.meets(answer_lost())

    assert not watches.advance(WATCH, 9)
    assert watches.find("c1=", RUN_ID) == replace(WATCH, sent=9)


def test_a_watch_that_is_gone_has_no_cursor_to_move(watches: DynamoWatchStore) -> None:
    assert not watches.advance(WATCH, 9)
    assert watches.of_run(RUN_ID) == []


def test_a_watch_is_finished_only_as_it_was_read(watches: DynamoWatchStore) -> None:
    watches.connect(SOCKET)
    watches.subscribe(WATCH)
    watches.finish(replace(WATCH, sent=3))
    assert watches.of_run(RUN_ID) == [WATCH]

    watches.finish(WATCH)
    assert watches.of_run(RUN_ID) == []
    assert watches.connection("c1=") == (SOCKET, frozenset())


def test_nothing_of_a_socket_is_left(watches: DynamoWatchStore, dynamodb: DynamoDBClient, table: str) -> None:
    watches.connect(SOCKET)
    for number in range(3):
        watches.subscribe(replace(WATCH, run_id=run_id(number)))
    watches.disconnect("c1=")
    watches.disconnect("c1=")

    assert dynamodb.scan(TableName=table)["Items"] == []


def test_everything_is_read_strongly(watches: DynamoWatchStore, reads: list[bool]) -> None:
    watches.connection("c1=")
    watches.of_run(RUN_ID)
    watches.find("c1=", RUN_ID)
    watches.disconnect("c1=")

    assert reads == [True] * 4


def test_every_row_expires_with_the_ticket(watches: DynamoWatchStore, dynamodb: DynamoDBClient, table: str) -> None:
    watches.connect(SOCKET)
    watches.subscribe(WATCH)

    rows = dynamodb.scan(TableName=table)["Items"]
    assert [row[keys.TTL] for row in rows] == [{"N": str(int(UNTIL.timestamp()))}] * 3
