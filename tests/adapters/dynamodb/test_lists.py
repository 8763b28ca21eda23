"""Runs found through the indexes: an account's, and those that are due."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from chalicelib.adapters.dynamodb import keys, run_reads
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.errors import InvalidInput
from chalicelib.core.events import OUTSIDE
from chalicelib.core.run import Run, Status, Trigger
from tests.adapters.dynamodb.bad_line import BadLine
from tests.builders import NOON, a_move, a_run, accepted, run_id


def submitted(runs: DynamoRunStore, number: int, **fields: object) -> Run:
    run = a_run(run_id=run_id(number), **fields)
    runs.create(run, accepted(), None)
    return run


def cancelled(runs: DynamoRunStore, number: int) -> Run:
    change = a_move(submitted(runs, number), Trigger.CANCEL, tail=0, attempt=OUTSIDE)
    runs.commit(change)
    return change.after


def pages(runs: DynamoRunStore, status: Status | None, limit: int) -> Iterator[list[str]]:
    after = None
    while True:
        found, after = runs.of_account("acme", status, limit, after)
        yield [run.run_id for run in found]
        if after is None:
            return


def test_an_accounts_runs_come_newest_first_page_by_page(runs: DynamoRunStore) -> None:
    for number in range(5):
        submitted(runs, number)

    assert [*pages(runs, None, 2)] == [[run_id(4), run_id(3)], [run_id(2), run_id(1)], [run_id(0)]]


def test_a_last_page_that_is_full_leads_nowhere(runs: DynamoRunStore) -> None:
    for number in range(4):
        submitted(runs, number)

    assert [*pages(runs, None, 2)] == [[run_id(3), run_id(2)], [run_id(1), run_id(0)]]


def test_a_list_shows_what_it_needs_of_a_run(runs: DynamoRunStore) -> None:
    submitted(runs, 1, metadata={"team": "research"})
    ended = cancelled(runs, 2)

    found, _ = runs.of_account("acme", None, 10, None)

    assert [(run.status, run.agent, run.created_at, run.ended_at) for run in found] == [
        (Status.CANCELLED, "demo", NOON, ended.ended_at),
        (Status.PENDING, "demo", NOON, None),
    ]
    assert found[1].metadata == {"team": "research"}


def test_accounts_do_not_see_each_others_runs(runs: DynamoRunStore) -> None:
    submitted(runs, 1)

    assert runs.of_account("other", None, 10, None) == ([], None)


def test_a_next_of_another_account_leads_to_nothing_of_its(runs: DynamoRunStore) -> None:
    for number in range(3):
        submitted(runs, number)
    _, after = runs.of_account("acme", None, 1, None)

    assert runs.of_account("other", None, 10, after) == ([], None)


@pytest.mark.parametrize("after", ["", "x", "run_00000000000000000000000001", "%%%", "cnVuXzE=", "\ud83e", "ü" * 40])
def test_a_next_that_no_list_gave_is_refused(runs: DynamoRunStore, after: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        runs.of_account("acme", None, 10, after)

    assert refused.value.code == "invalid_next"


def test_a_list_of_one_status_has_only_that(runs: DynamoRunStore) -> None:
    for number in range(6):
        (cancelled if number % 2 else submitted)(runs, number)

    assert [*pages(runs, Status.CANCELLED, 2)] == [[run_id(5), run_id(3)], [run_id(1)]]
    assert [*pages(runs, Status.DONE, 2)] == [[]]


def test_a_list_of_a_rare_status_stops_looking_and_can_be_gone_on_with(
    runs: DynamoRunStore, line: BadLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_reads, "LOOKS", 2)
    monkeypatch.setattr(run_reads, "LOOKED_AT", 2)
    cancelled(runs, 0)
    for number in range(1, 8):
        submitted(runs, number)
    before = len(line.sent)

    assert [*pages(runs, Status.CANCELLED, 5)] == [[], [run_id(0)]]
    assert len(line.sent) - before == 4


def test_due_runs_come_the_longest_overdue_first(runs: DynamoRunStore) -> None:
    for number, minutes in enumerate([3, 1, 2]):
        submitted(runs, number, due_at=NOON + timedelta(minutes=minutes))

    due = runs.due(NOON + timedelta(minutes=10), 10)

    assert [run.run_id for run in due] == [run_id(1), run_id(2), run_id(0)]


def test_a_run_is_not_due_before_its_time_and_at_most_a_minute_after(runs: DynamoRunStore) -> None:
    at = NOON + timedelta(minutes=1, seconds=20)
    submitted(runs, 1, due_at=at)

    assert runs.due(at - timedelta(seconds=1), 10) == []
    assert [run.run_id for run in runs.due(NOON + timedelta(minutes=2), 10)] == [run_id(1)]


def test_at_most_so_many_are_due_and_those_the_longest_overdue(runs: DynamoRunStore, line: BadLine) -> None:
    for number in range(9):
        submitted(runs, number, due_at=NOON + timedelta(minutes=9 - number))
    before = len(line.sent)

    due = runs.due(NOON + timedelta(hours=1), 3)

    assert [run.run_id for run in due] == [run_id(8), run_id(7), run_id(6)]
    assert len(line.sent) - before == keys.DUE_SHARDS + 3


def test_ended_runs_are_never_due(runs: DynamoRunStore) -> None:
    cancelled(runs, 1)

    assert runs.due(NOON + timedelta(days=1), 10) == []


def test_a_due_run_is_read_as_it_now_stands(runs: DynamoRunStore) -> None:
    pending = submitted(runs, 1)
    taking = lease.take(pending, tail=0, now=NOON, write_id="taking")
    runs.commit(taking)

    assert runs.due(NOON + timedelta(minutes=5), 10) == [taking.after]


def test_a_renewal_within_the_minute_leaves_the_index_as_it_is(runs: DynamoRunStore, line: BadLine) -> None:
    pending = submitted(runs, 1)
    taking = lease.take(pending, tail=0, now=NOON, write_id="taking")
    runs.commit(taking)

    runs.renew(lease.renewed(taking.after, NOON + timedelta(seconds=10)))

    was = keys.due_sk(NOON + lease.LEASE, pending.run_id)
    assert line.sent[-1].request["ExpressionAttributeValues"][f":{keys.DUE_SK}"] == {"S": was}
