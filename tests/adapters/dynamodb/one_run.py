"""One run, and all that can happen to it: what its crowd does, and what its network does to them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core.events import EventType
from chalicelib.core.run import Trigger
from chalicelib.ports.payload_store import PayloadStore
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost, never_arrives, refused_with
from tests.adapters.dynamodb.crowd import Outsider, Worker, World
from tests.builders import a_run, accepted
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

GIVES_UP_AFTER = 6
SELDOM = {5, 11}
"""Of the numbers up to twelve, those with which a run may end: behind the end there is little left to get wrong."""


class OneRun:
    """A run, its crowd and its network. Each action takes a number that says who, or how."""

    def __init__(self, dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> None:
        self.line = BadLine(dynamodb)
        self.line.disturbs_reads = False
        # The store's own clock stands still: how long an answer takes to be missed is not how long it is waited for.
        self.world = World(
            DynamoRunStore(self.line.as_client, table, payloads=payloads, clock=VirtualTime(), chance=CountedChance())
        )
        self.workers = [Worker(self.world) for _ in range(3)]
        self.outsiders = [Outsider(self.world) for _ in range(2)]
        self.first = accepted()
        self.world.runs.create(a_run(), self.first, None)

    # Those who write.

    def a_worker_looks(self, n: int) -> None:
        self._worker(n).look()

    def a_worker_takes_what_it_saw(self, n: int) -> None:
        self._worker(n).take()

    def a_worker_takes(self, n: int) -> None:
        self._worker(n).look()
        self._worker(n).take()

    def a_holder_begins(self, n: int) -> None:
        for holder in self._holder(n):
            holder.begin(EventType.STEP_STARTED if n % 2 else EventType.TOOL_STARTED)

    def a_holder_tells_a_result(self, n: int) -> None:
        for holder in self._holder(n):
            holder.tell(EventType.TOOL_FINISHED)

    def a_holder_streams(self, n: int) -> None:
        for holder in self._holder(n):
            holder.text()

    def a_holder_waits(self, n: int) -> None:
        for holder in self._holder(n):
            holder.change(Trigger.WAIT)

    def a_holder_ends_the_run(self, n: int) -> None:
        for holder in self._holder(n):
            if holder.cancelling:
                holder.change(Trigger.CONFIRM)
            elif n in SELDOM:
                holder.change(Trigger.FINISH)

    def a_holder_renews(self, n: int) -> None:
        for holder in self._holder(n):
            holder.renew()

    def a_holder_hands_back(self, n: int) -> None:
        for holder in self._holder(n):
            holder.hand_back()

    def an_outsider_looks(self, n: int) -> None:
        self._outsider(n).look()

    def somebody_cancels(self, n: int) -> None:
        if n in SELDOM:
            self._outsider(n).cancel()

    def somebody_says_something(self, n: int) -> None:
        self._outsider(n).say()

    def somebody_settles(self, n: int) -> None:
        if n in SELDOM:
            self._outsider(n).settle()

    def somebody_restarts(self, n: int) -> None:
        self._outsider(n).restart()

    def two_write_from_the_same_sight(self, n: int) -> None:
        one, other = self.outsiders
        one.look()
        other.look()
        one.say()
        other.writes(cancels=n in SELDOM)

    def two_take_from_the_same_sight(self, n: int) -> None:
        one, other = self._worker(n), self._worker(n + 1)
        one.look()
        other.look()
        one.take()
        other.take()

    def a_holder_that_slept_is_replaced(self, n: int) -> None:
        """It may wake up and renew its lease, after those who act in its place have looked and before they act."""
        one, other = self._outsider(n), self._worker(n)
        one.look()
        other.look()
        self.a_lease_lapses(n)
        for holder in self._holder(n) if n % 3 else []:
            holder.renew()
        if n in SELDOM:
            one.settle()
        other.take()

    def _worker(self, n: int) -> Worker:
        return self.workers[n % len(self.workers)]

    def _holder(self, n: int) -> list[Worker]:
        """One of those who believe that they hold the run, or a newcomer, after a while; nobody if it can't be held."""
        if not any(worker.holds for worker in self.workers):
            self.a_lease_lapses(n)
            self.a_worker_takes(n)
        holders = [worker for worker in self.workers if worker.holds]
        return [holders[n % len(holders)]] if holders else []

    def _outsider(self, n: int) -> Outsider:
        """Somebody who has seen the run: a while ago, or just now."""
        outsider = self.outsiders[n % len(self.outsiders)]
        if outsider.seen is None:
            outsider.look()
        return outsider

    # What happens to them.

    def time_passes(self, n: int) -> None:
        self.world.now += timedelta(seconds=n)

    def a_lease_lapses(self, n: int) -> None:
        self.world.now += timedelta(seconds=31)

    def the_next_answer_is_lost(self, n: int) -> None:
        self.line.meets(answer_lost())

    def it_is_lost_while_somebody_writes(self, n: int) -> None:
        self.line.meets(answer_lost(lambda: Outsider(self.world).passes_by(cancels=n in SELDOM)))

    def it_is_lost_while_the_run_is_taken_over(self, n: int) -> None:
        def takeover() -> None:
            self.world.now += timedelta(seconds=31)
            self.workers.append(Worker(self.world))
            self.a_worker_takes(len(self.workers) - 1)

        self.line.meets(answer_lost(takeover))

    def no_answer_comes_at_all(self, n: int) -> None:
        self.line.meets(*[answer_lost() if n % 2 else never_arrives] * GIVES_UP_AFTER)

    def the_next_request_does_not_arrive(self, n: int) -> None:
        self.line.meets(never_arrives if n % 2 else refused_with("ThrottlingException"))

    def an_earlier_write_arrives_again(self, n: int) -> None:
        writes = [sent for sent in self.line.sent if sent.writes]
        self.line.repeat(writes[-1 - n % len(writes)])

    def an_earlier_renewal_arrives_again(self, n: int) -> None:
        renewals = [sent for sent in self.line.sent if sent.operation == "update_item"]
        if renewals:
            self.line.repeat(renewals[-1 - n % len(renewals)])


WHAT_HAPPENS: list[Callable[[OneRun, int], None]] = [
    *[OneRun.time_passes] * 2,
    OneRun.a_lease_lapses,
    OneRun.a_worker_looks,
    OneRun.a_worker_takes_what_it_saw,
    OneRun.a_worker_takes,
    *[OneRun.two_take_from_the_same_sight] * 2,
    *[OneRun.two_write_from_the_same_sight] * 2,
    *[OneRun.a_holder_that_slept_is_replaced] * 2,
    *[OneRun.a_holder_begins] * 3,
    *[OneRun.a_holder_tells_a_result] * 3,
    *[OneRun.a_holder_streams] * 3,
    *[OneRun.a_holder_renews] * 3,
    OneRun.a_holder_waits,
    OneRun.a_holder_hands_back,
    OneRun.a_holder_ends_the_run,
    OneRun.an_outsider_looks,
    OneRun.somebody_cancels,
    OneRun.somebody_says_something,
    OneRun.somebody_settles,
    *[OneRun.somebody_restarts] * 2,
    *[OneRun.the_next_answer_is_lost] * 2,
    OneRun.it_is_lost_while_somebody_writes,
    OneRun.it_is_lost_while_the_run_is_taken_over,
    OneRun.no_answer_comes_at_all,
    OneRun.the_next_request_does_not_arrive,
    *[OneRun.an_earlier_write_arrives_again] * 2,
    *[OneRun.an_earlier_renewal_arrives_again] * 2,
]
"""Each as often as it stands here."""
