"""An account with more runs than slots: who works, who waits, and in which order they come to it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.adapters.models.scripted import Script, Turn, Unavailable
from chalicelib.core import lease
from chalicelib.core.errors import WorkflowUnavailable
from chalicelib.core.events import EventType
from chalicelib.core.run import Run, Slot, Status, Trigger
from chalicelib.core.slots import SETTLED
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.advance import advance
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.route import Next, Route
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import Tended, tend
from chalicelib.usecases.work import Slice
from tests.builders import a_run, a_stamp, accepted, move, run_id
from tests.fresh_table import fresh_table
from tests.usecases.workshop import Tool, Workshop, asks
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TWO_STEPS: Script = (asks("look"), Turn(text="Done."))
DOWN_ONCE: Script = (Turn(text="never", fault=Unavailable(times=1, retry_after=40)), Turn(text="Done."))
SEED = 20


class House:
    """An account that may have so many runs at work, and their executions, moved by hand."""

    def __init__(self, shop: Workshop, client: DynamoDBClient, table: str) -> None:
        self.shop = shop
        self.at = client, table

    def submit(self, *numbers: int) -> None:
        for number in numbers:
            self.shop.submit(run_id(number))

    def run(self, number: int) -> Run:
        found = self.shop.runs.tail(run_id(number))
        assert found is not None
        return found[0]

    def words(self, number: int) -> list[str]:
        return [str(event.type) for event in self.shop.runs.log(run_id(number))[1]]

    def advance(self, number: int, *, steps: int = 0) -> Route:
        start = self.run(number).start
        return advance(run_id(number), start, 0, Slice(900, steps), needs=self.shop.needs())

    def cancel(self, number: int) -> Run:
        asked: dict[str, Any] = {"account_id": "acme", "actor": "key_1", "reason": None}
        return cancel(run_id(number), **asked, **self.world, chance=self.shop.chance)[0]

    def abandon(self, number: int) -> bool:
        return abandon(run_id(number), self.run(number).start, "KeyError", **self.world, chance=self.shop.chance)

    def take(self, number: int) -> Run:
        """A worker took the run, and is at it."""
        taking = lease.take(self.run(number), tail=0, now=self.shop.time.now(), write_id=f"take-{number}")
        self.shop.runs.commit(taking)
        return taking.after

    def finish(self, run: Run) -> None:
        """Its worker ends the run, and dies before it can do anything else."""
        ending = move(run, Trigger.FINISH, tail=1, stamp=a_stamp(1), data={"output": {"text": ""}})
        self.shop.runs.commit(ending)

    def left_behind(self, number: int) -> None:
        """The run ends, and for once its slot does not go with it."""
        self.finish(self.run(number))
        client, table = self.at
        holders = {"SS": sorted({*self.at_work, run_id(number)})}
        client.update_item(
            TableName=table,
            Key=items.key(keys.slots("acme")),
            UpdateExpression="SET holders = :holders",
            ExpressionAttributeValues={":holders": holders},
        )

    @property
    def world(self) -> dict[str, Any]:
        shop = self.shop
        return {"runs": shop.runs, "slots": shop.slots, "workflow": shop.workflow, "clock": shop.time}

    @property
    def at_work(self) -> set[str]:
        return set(self.shop.slots.slots("acme").holders)

    @property
    def begun(self) -> list[tuple[str, int]]:
        return self.shop.workflow.started

    def tick(self) -> Tended:
        sweep(**self.world, chance=self.shop.chance)
        return tend(**self.world)


class Street:
    """Where houses are opened."""

    def __init__(self, dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> None:
        self.at = (dynamodb, table, payloads)

    def house(self, script: Script, *, cap: int) -> House:
        dynamodb, table, payloads = self.at
        time, chance = VirtualTime(), CountedChance()
        runs = DynamoRunStore(dynamodb, table, payloads=payloads, clock=time, chance=chance, cap=cap)
        slots = DynamoSlotStore(dynamodb, table, clock=time, chance=chance)
        return House(Workshop(runs, slots, time, script, [Tool("look")]), dynamodb, table)


@pytest.fixture
def street(dynamodb: DynamoDBClient, payloads: PayloadStore) -> Iterator[Street]:
    with fresh_table(dynamodb) as table:
        yield Street(dynamodb, table, payloads)


def test_a_run_that_finds_no_slot_stands_in_line_and_its_execution_ends(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.advance(1, steps=1)

    assert house.advance(2).next is Next.END

    assert (house.run(2).status, house.run(2).slot) == (Status.PENDING, Slot.WANTED)
    assert house.words(2) == [EventType.RUN_ACCEPTED]


def test_whoever_ends_begins_the_next_in_line_with_its_slot(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2, 3)
    house.advance(1, steps=1)
    for number in (3, 2):
        house.advance(number)

    house.advance(1)

    assert house.begun == [(run_id(2), 2)]
    assert house.at_work == {run_id(2)}
    assert house.advance(2).next is Next.END
    assert house.run(2).status is Status.DONE
    assert house.begun[1:] == [(run_id(3), 2)]


def test_an_execution_of_a_run_in_line_that_comes_again_ends_too(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.advance(1, steps=1)
    house.advance(2)

    assert house.advance(2).next is Next.END
    assert house.words(2) == [EventType.RUN_ACCEPTED]


def test_a_run_whose_wait_is_over_waits_for_a_slot_and_goes_before_new_ones(street: Street) -> None:
    house = street.house(DOWN_ONCE, cap=1)
    house.submit(2, 3)
    assert house.advance(1).next is Next.ASK
    other = house.take(2)
    house.advance(3)
    house.shop.time.advance(60)

    assert house.advance(1).next is Next.END

    assert (house.run(1).status, house.run(1).waiting_for) == (Status.WAITING, "slot")
    assert house.words(1)[-2:] == [EventType.RUN_WAITING, EventType.RUN_WAITING]
    house.finish(other)
    house.tick()
    assert house.begun == [(run_id(1), 2)]
    assert house.advance(1).next is Next.END
    assert house.run(1).status is Status.DONE
    assert house.begun[1:] == [(run_id(3), 2)]


def test_a_wait_frees_the_slot_for_who_is_in_line(street: Street) -> None:
    house = street.house(DOWN_ONCE, cap=1)
    house.submit(2)
    other = house.take(2)
    house.advance(1)
    house.finish(other)
    house.shop.time.advance(60)
    house.tick()
    assert house.begun == [(run_id(1), 2)]
    house.submit(3)
    house.advance(3)

    assert house.advance(1).next is Next.ASK

    assert house.begun[1:] == [(run_id(3), 2)]


def test_time_in_line_is_not_on_the_budget_of_a_run(street: Street) -> None:
    house = street.house(DOWN_ONCE, cap=1)
    house.submit(2)
    house.advance(1)
    other = house.take(2)
    house.shop.time.advance(60)
    house.advance(1)
    house.shop.time.advance(house.run(1).budget.seconds)
    house.finish(other)
    house.tick()

    house.advance(1)

    assert house.run(1).status is Status.DONE


def test_a_cancel_in_line_leaves_the_line(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2, 3)
    house.advance(1, steps=1)
    house.advance(2)
    house.advance(3)

    assert house.cancel(2).status is Status.CANCELLED

    house.advance(1)
    assert house.begun == [(run_id(3), 2)]


def test_a_cancel_of_a_run_that_was_given_its_slot_passes_it_on(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2, 3)
    house.advance(1, steps=1)
    house.advance(2)
    house.advance(3)
    house.advance(1)
    assert house.at_work == {run_id(2)}

    house.cancel(2)

    assert house.at_work == {run_id(3)}
    assert house.begun == [(run_id(2), 2), (run_id(3), 2)]


def test_a_cancel_that_is_confirmed_in_the_holders_place_passes_the_slot_on(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.take(1)
    house.advance(2)
    house.cancel(1)
    house.shop.time.advance(90)

    house.advance(1)

    assert house.run(1).status is Status.CANCELLED
    assert house.begun == [(run_id(2), 2)]


def test_an_execution_that_gives_up_passes_the_slot_on(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.advance(1, steps=1)
    house.advance(2)

    assert house.abandon(1)

    assert house.begun == [(run_id(2), 2)]


def test_an_execution_that_gives_up_does_not_fail_a_run_that_stands_in_line(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.advance(1, steps=1)
    house.advance(2)

    assert not house.abandon(2)
    assert house.run(2).slot is Slot.WANTED


def test_the_tick_begins_who_is_in_line_if_whoever_freed_the_slot_died(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    other = house.take(1)
    house.advance(2)
    house.finish(other)
    house.shop.time.advance(60)

    assert house.tick() == Tended(accounts=1, freed=0, begun=1)

    assert house.begun == [(run_id(2), 2)]


def test_a_start_that_was_refused_in_turn_is_made_up_for_by_the_sweeper(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    house.advance(1, steps=1)
    house.advance(2)
    house.shop.workflow.refuses = WorkflowUnavailable("busy")
    house.advance(1)
    house.shop.workflow.refuses = None
    assert (house.begun, house.at_work) == ([], {run_id(2)})

    house.shop.time.advance(200)
    house.tick()

    assert house.begun == [(run_id(2), 3)]


def test_the_tick_frees_the_slots_of_runs_that_are_not_at_work(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=2)
    house.submit(2)
    house.take(1)
    house.take(2)
    house.left_behind(1)
    house.shop.time.advance(60)

    assert house.tick().freed == 1

    assert house.at_work == {run_id(2)}


def test_the_tick_comes_to_a_crowded_account_every_minute_and_to_an_idle_one_no_more(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.submit(2)
    other = house.take(1)
    house.advance(2)
    for _ in range(3):
        house.shop.time.advance(120)
        assert house.tick().accounts == 1
    house.finish(other)
    house.shop.time.advance(120)
    house.tick()
    house.advance(2)
    house.shop.time.advance(120 + SETTLED.total_seconds())

    assert [house.tick().accounts for _ in range(2)] == [1, 0]


def test_the_rest_of_the_accounts_is_looked_after_at_the_next_tick(street: Street) -> None:
    house = street.house(TWO_STEPS, cap=1)
    house.shop.runs.create(a_run(run_id=run_id(2), account_id="globex"), accepted(), None)
    house.take(1)
    house.take(2)
    house.shop.time.advance(120)

    assert [tend(**house.world, limit=1).accounts for _ in range(3)] == [1, 1, 0]


def test_however_runs_take_turns_no_more_are_at_work_than_slots_and_all_come_to_their_end(street: Street) -> None:
    house, chance = street.house(DOWN_ONCE, cap=3), random.Random(SEED)
    numbers = range(1, 13)
    house.submit(*numbers[1:])
    for _ in range(2_000):
        unfinished = [number for number in numbers if not house.run(number).status.terminal]
        if not unfinished:
            break
        house.advance(chance.choice(unfinished), steps=1)
        assert len(house.at_work) <= 3
        if chance.random() < 0.2:
            house.shop.time.advance(30)
            house.tick()

    assert {house.run(number).status for number in numbers} == {Status.DONE}, f"seed {SEED}"
    assert house.at_work == set()
