"""The log under everything at once: workers, takeovers, cancels and a network that loses, repeats and delays writes.

What holds after every step:
* the log has no hole, no write and no act twice, and at most one terminal event, which is its last;
* the run's status and attempt are what its log implies, and nothing of an attempt stands behind the next one's taking;
* what the store called written is there, what it called refused never comes;
* nobody is overtaken while its lease counts, and a lease that was given up stays given up;
* the run stands where it belongs in the index of what is due.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.events import OUTSIDE, Event, EventType
from chalicelib.core.run import Run, Status
from chalicelib.core.transitions import status_told
from chalicelib.ports.payload_store import PayloadStore
from tests.adapters.dynamodb.one_run import WHAT_HAPPENS, OneRun
from tests.builders import RUN_ID
from tests.fresh_table import fresh_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TAKINGS = {EventType.RUN_STARTED, EventType.RUN_ATTEMPT, EventType.RUN_RESUMED}
BEGINNINGS = {EventType.STEP_STARTED, EventType.TOOL_STARTED}
MAY_BE_HELD = {Status.RUNNING, Status.STREAMING, Status.CANCELLING}


class Auditor:
    """Whoever reads past the store what has become of the crowd's writes."""

    def __init__(self, crowd: OneRun, dynamodb: DynamoDBClient, table: str) -> None:
        self.crowd = crowd
        self.dynamodb = dynamodb
        self.table = table
        self.log = [crowd.first]
        self.seen = 0
        self.last_lease: tuple[int, datetime] | None = None

    def everything_holds(self) -> None:
        """To be asked after every step: only what is new in the log is read, behind the last event that is known."""
        if self.crowd.line.arrived == self.seen:
            return
        self.seen = self.crowd.line.arrived
        item, events = self._read(len(self.log) - 1)
        assert events[0] == self.log[-1]
        self.log += events[1:]
        run = items.read_run(item)
        self._no_hole_no_double_one_end(self.log)
        self._nothing_of_a_fenced_attempt(self.log)
        self._nothing_begun_after_a_cancel(self.log)
        self._the_run_is_what_its_log_implies(run, self.log)
        self._what_was_told_is_true(self.log)
        self._nothing_given_up_is_revived(run)
        self._due_unless_ended(run, item)

    def nothing_was_rewritten(self) -> None:
        """To be asked once, at the end."""
        assert self._read(0)[1] == self.log

    def _read(self, first: int) -> tuple[items.Item, list[Event]]:
        """The run's item and the events from `first` on, read past the store."""
        found = self.dynamodb.query(
            TableName=self.table,
            KeyConditionExpression="pk = :run AND sk BETWEEN :first AND :behind",
            ExpressionAttributeValues={
                ":run": {"S": keys.partition(RUN_ID)},
                ":first": {"S": keys.event_sk(first)},
                ":behind": {"S": keys.RUN_SK},
            },
            ConsistentRead=True,
        )["Items"]
        return found[-1], [items.read_event(item) for item in found[:-1]]

    def _no_hole_no_double_one_end(self, log: list[Event]) -> None:
        assert [event.seq for event in log] == [*range(len(log))]
        assert len({event.write_id for event in log}) == len(log)
        acts = [event.data["act"] for event in log if "act" in event.data]
        assert len(set(acts)) == len(acts)
        assert not any(event.ends for event in log[:-1])

    def _nothing_of_a_fenced_attempt(self, log: list[Event]) -> None:
        held_by = [event.attempt for event in log if event.attempt != OUTSIDE]
        assert all(one <= next_one for one, next_one in pairwise(held_by))
        takings = [event for event in log if event.type in TAKINGS]
        assert [event.attempt for event in takings] == [*range(1, len(takings) + 1)]
        for taking in takings:
            assert not any(event.attempt == taking.attempt for event in log[: taking.seq])

    def _nothing_begun_after_a_cancel(self, log: list[Event]) -> None:
        cancelled = next((event.seq for event in log if event.type is EventType.RUN_CANCELLING), len(log))
        assert not any(event.type in BEGINNINGS | TAKINGS for event in log[cancelled:])

    def _the_run_is_what_its_log_implies(self, run: Run, log: list[Event]) -> None:
        assert run.status is status_told(log)
        assert run.attempt == max(event.attempt for event in log)

    def _what_was_told_is_true(self, log: list[Event]) -> None:
        standing = {(event.write_id, event.seq) for event in log}
        assert self.crowd.world.accepted <= standing
        assert not self.crowd.world.refused & standing

    def _nothing_given_up_is_revived(self, run: Run) -> None:
        if run.lease_until is None:
            return
        assert run.status in MAY_BE_HELD
        assert run.attempt not in self.crowd.world.handed_back
        if self.last_lease is not None and self.last_lease[0] == run.attempt:
            assert self.last_lease[1] <= run.lease_until
        self.last_lease = (run.attempt, run.lease_until)

    def _due_unless_ended(self, run: Run, item: items.Item) -> None:
        assert (run.due_at is None) == run.status.terminal
        shard, since = (keys.due_shard, run.due_at) if run.due_at else (keys.old_shard, run.ended_at)
        assert since is not None
        assert item[keys.DUE_PK] == {"S": shard(RUN_ID)}
        assert item[keys.DUE_SK] == {"S": keys.due_sk(since, RUN_ID)}
        assert self.crowd.world.starts <= run.start - 1 <= self.crowd.world.starts + self.crowd.world.maybe_starts


NUMBERS = st.lists(st.integers(0, 12), min_size=len(WHAT_HAPPENS), max_size=len(WHAT_HAPPENS))


def test_the_log_holds_under_every_interleaving(dynamodb: DynamoDBClient, payloads: PayloadStore) -> None:
    @settings(
        max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
    )
    @given(order=st.permutations(WHAT_HAPPENS), numbers=NUMBERS, length=st.integers(20, len(WHAT_HAPPENS)))
    def holds(order: list[Callable[[OneRun, int], None]], numbers: list[int], length: int) -> None:
        with fresh_table(dynamodb) as table:
            crowd = OneRun(dynamodb, table, payloads)
            auditor = Auditor(crowd, dynamodb, table)
            for happens, n in list(zip(order, numbers, strict=True))[:length]:
                happens(crowd, n)
                auditor.everything_holds()
            auditor.nothing_was_rewritten()

    holds()
