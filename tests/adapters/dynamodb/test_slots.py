"""Slots in the table: at most so many runs of an account at work, and the order of those in line."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.core import answer, lease
from chalicelib.core.errors import NoSlot, RunMoved
from chalicelib.core.events import EventType
from chalicelib.core.run import Run, Slot, Status, Trigger
from chalicelib.core.slots import Slots
from chalicelib.ports.payload_store import PayloadStore
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, a_run, a_stamp, accepted, move, run_id
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LATER = NOON + timedelta(minutes=5)


class House:
    """An account that may have two runs at work."""

    def __init__(self, line: BadLine, table: str, payloads: PayloadStore) -> None:
        world: dict[str, Any] = {"clock": VirtualTime(), "chance": CountedChance()}
        self.line = line
        self.runs = DynamoRunStore(line.as_client, table, payloads=payloads, cap=2, **world)
        self.store = DynamoSlotStore(line.as_client, table, **world)

    def submit(self, number: int, **fields: Any) -> Run:
        run = a_run(run_id=run_id(number), **fields)
        self.runs.create(run, accepted(), None)
        return run

    def submits(self, *numbers: int) -> list[Run]:
        return [self.submit(number) for number in numbers]

    def take(self, run: Run) -> Run:
        _, last = self.found(run)
        change = lease.take(run, tail=last, now=NOON, write_id=f"take-{run.run_id}-{last}")
        self.runs.commit(change)
        return change.after

    def found(self, run: Run) -> tuple[Run, int]:
        found = self.runs.tail(run.run_id)
        assert found is not None
        return found[0], found[1].seq

    def move(self, run: Run, trigger: Trigger, **fields: Any) -> Run:
        _, last = self.found(run)
        data = {"for": "provider"} if trigger is Trigger.WAIT else {}
        change = move(run, trigger, tail=last, stamp=a_stamp(run.attempt), data=data, **fields)
        self.runs.commit(change)
        return change.after

    def wait(self, run: Run) -> Run:
        return self.move(run, Trigger.WAIT, waiting_for="provider", waiting_seq=9, wake_at=NOON, due_at=NOON)

    def line_up(self, run: Run) -> Run:
        """Whoever has not begun, or whose wait is over."""
        if run.status is Status.PENDING:
            self.runs.line_up(lease.lined_up(run, NOON))
        else:
            self.runs.commit(lease.line_up(run, tail=self.found(run)[1], stamp=a_stamp()))
        return self.found(run)[0]

    def full(self) -> tuple[Run, Run]:
        """Two runs at work: no slot is left."""
        one, two = self.submits(1, 2)
        return self.take(one), self.take(two)

    @property
    def slots(self) -> Slots:
        return self.store.slots("acme")


@pytest.fixture
def house(line: BadLine, table: str, payloads: PayloadStore) -> House:
    return House(line, table, payloads)


def test_an_account_has_no_more_runs_at_work_than_slots(house: House) -> None:
    one, two = house.full()
    third = house.submit(3)

    with pytest.raises(NoSlot):
        house.take(third)

    assert house.slots.holders == {one.run_id, two.run_id}
    assert house.found(third) == (third, 0)


def test_another_account_has_slots_of_its_own(house: House) -> None:
    house.full()

    assert house.take(house.submit(3, account_id="globex")).status is Status.RUNNING


@pytest.mark.parametrize("end", [Trigger.FINISH, Trigger.FAIL, Trigger.WAIT])
def test_a_slot_is_freed_by_a_wait_and_by_an_end(end: Trigger, house: House) -> None:
    one, two = house.full()

    house.wait(one) if end is Trigger.WAIT else house.move(one, end)

    assert house.slots.holders == {two.run_id}
    assert house.take(house.submit(3)).slot is Slot.HELD


def test_a_cancelled_run_keeps_its_slot_until_that_is_confirmed(house: House) -> None:
    one, two = house.full()

    cancelling = house.move(one, Trigger.CANCEL)
    assert house.slots.holders == {one.run_id, two.run_id}

    house.move(cancelling, Trigger.CONFIRM)
    assert house.slots.holders == {two.run_id}


def test_a_take_whose_answer_was_lost_takes_one_slot(house: House) -> None:
    one, two = house.submits(1, 2)
    house.line.meets(answer_lost())

    house.take(one)

    assert house.slots.holders == {one.run_id}
    assert house.take(two).slot is Slot.HELD


def test_a_later_attempt_needs_no_other_slot(house: House) -> None:
    one, _ = house.full()

    again = house.take(one)

    writes = house.line.sent[-1].request["TransactItems"]
    assert (again.attempt, len(writes)) == (2, 2)


def test_nobody_lines_up_where_a_slot_is_free(house: House) -> None:
    one, _ = house.full()
    third = house.submit(3)
    house.move(one, Trigger.FINISH)

    with pytest.raises(RunMoved):
        house.line_up(third)

    assert house.found(third)[0].slot is None


def test_nor_does_a_run_whose_wait_is_over(house: House) -> None:
    one, _ = house.full()

    with pytest.raises(RunMoved):
        house.line_up(house.wait(one))


def test_a_run_in_line_is_due_for_nobody_but_its_turn(house: House) -> None:
    house.full()
    third = house.line_up(house.submit(3))

    assert third.slot is Slot.WANTED
    assert third.run_id not in [run.run_id for run in house.runs.due(LATER, 10)]
    assert [run.run_id for run in house.store.line("acme", 10)] == [third.run_id]
    assert house.store.line("globex", 10) == []


def test_a_lining_up_whose_answer_was_lost_stands(house: House) -> None:
    house.full()
    third = house.submit(3)
    house.line.meets(answer_lost())

    assert house.line_up(third).slot is Slot.WANTED


def test_runs_whose_wait_is_over_go_first_and_then_the_older(house: House) -> None:
    one, _ = house.full()
    waiting = house.wait(one)
    third, fourth, fifth = house.submits(3, 4, 5)
    house.take(third)
    for late in (fifth, fourth):
        house.line_up(late)
    house.line_up(waiting)

    assert [run.run_id for run in house.store.line("acme", 10)] == [waiting.run_id, fourth.run_id, fifth.run_id]
    assert house.slots.resuming == {waiting.run_id}


def test_no_new_run_takes_the_slot_that_one_whose_wait_is_over_stands_in_line_for(house: House) -> None:
    one, two = house.full()
    waiting = house.wait(one)
    third, fourth = house.submits(3, 4)
    house.take(third)
    in_line = house.line_up(waiting)
    house.move(two, Trigger.FINISH)

    with pytest.raises(NoSlot):
        house.take(fourth)

    assert house.line_up(fourth).slot is Slot.WANTED
    raised = house.runs.raise_start(in_line, LATER)
    assert (raised.slot, house.slots.resuming) == (Slot.HELD, frozenset())


def test_a_start_gives_a_run_in_line_its_slot_or_is_none(house: House) -> None:
    one, two = house.full()
    third = house.line_up(house.submit(3))

    with pytest.raises(NoSlot):
        house.runs.raise_start(third, LATER)
    assert house.found(third)[0] == third

    house.move(one, Trigger.FINISH)
    raised = house.runs.raise_start(third, LATER)
    assert (raised.start, raised.slot, house.found(third)[0]) == (2, Slot.HELD, raised)
    assert house.slots.holders == {two.run_id, third.run_id}
    assert [run.run_id for run in house.runs.due(LATER, 10)] != []
    assert house.store.line("acme", 10) == []


def test_a_start_in_turn_whose_answer_was_lost_is_one_start(house: House) -> None:
    one, _ = house.full()
    third = house.line_up(house.submit(3))
    house.move(one, Trigger.FINISH)
    house.line.meets(answer_lost())

    assert house.runs.raise_start(third, LATER).start == 2
    with pytest.raises(RunMoved):
        house.runs.raise_start(third, LATER)


def test_an_answer_that_was_read_in_line_does_not_put_a_started_run_back_there(house: House) -> None:
    one, two = house.full()
    waiting = house.wait(one)
    house.take(house.submit(3))
    in_line = house.line_up(waiting)
    house.move(two, Trigger.FINISH)
    house.runs.raise_start(in_line, LATER)
    tail = house.found(in_line)[1]

    with pytest.raises(RunMoved):
        house.runs.commit(answer.answer(in_line, EventType.MESSAGE_ADDED, {"text": "x"}, tail=tail, stamp=a_stamp()))

    assert house.store.line("acme", 10) == []


@pytest.mark.parametrize("began", [False, True])
def test_the_end_of_a_run_in_line_leaves_nothing_of_it(began: bool, house: House) -> None:
    one, _ = house.full()
    if began:
        waiting = house.wait(one)
        house.take(house.submit(3))
        in_line = house.line_up(waiting)
    else:
        in_line = house.line_up(house.submit(3))

    house.move(in_line, Trigger.CANCEL)

    assert (house.store.line("acme", 10), house.slots.resuming) == ([], frozenset())
    assert len(house.slots.holders) == 2


def test_a_line_is_forgotten_unless_somebody_came_meanwhile(house: House) -> None:
    house.full()
    house.line_up(house.submit(3))
    seen = house.slots
    house.store.forget_line(replace(seen, lined_up_at=NOON - timedelta(seconds=1)))
    assert house.slots.lined_up_at == NOON

    house.store.forget_line(seen)

    assert house.slots.lined_up_at is None


def test_slots_are_looked_at_from_the_first_run_at_work_until_nothing_is_left(house: House) -> None:
    assert house.store.to_tend(LATER, 10) == []
    one = house.take(house.submit(1))
    assert house.store.to_tend(NOON, 10) == []
    assert house.store.to_tend(LATER, 10) == ["acme"]

    house.store.look_again("acme", LATER)
    assert house.store.to_tend(LATER, 10) == []
    assert house.store.to_tend(LATER + timedelta(minutes=2), 10) == ["acme"]

    house.move(one, Trigger.FINISH)
    house.store.look_again("acme", LATER)
    assert house.store.to_tend(LATER + timedelta(days=1), 10) == []
    house.take(house.submit(2))
    assert house.store.to_tend(LATER, 10) == ["acme"]


def test_slots_with_somebody_in_line_are_looked_at_again(house: House) -> None:
    one, two = house.full()
    house.line_up(house.submit(3))
    for run in (one, two):
        house.move(run, Trigger.FINISH)

    house.store.look_again("acme", LATER)

    assert house.store.to_tend(LATER + timedelta(minutes=2), 10) == ["acme"]


def test_a_slot_is_freed_only_of_a_run_that_is_still_as_it_was_read(house: House) -> None:
    one, two = house.full()

    assert not house.store.free("acme", one.run_id, replace(one, status=Status.WAITING, slot=None))
    assert not house.store.free("acme", one.run_id, None)
    assert house.slots.holders == {one.run_id, two.run_id}

    assert house.store.free("acme", one.run_id, one)
    assert house.slots.holders == {two.run_id}


def test_the_slot_of_a_run_that_is_not_there_any_more_is_freed(
    house: House, table: str, dynamodb: DynamoDBClient
) -> None:
    one = house.take(house.submit(1))
    dynamodb.delete_item(TableName=table, Key={"pk": {"S": f"RUN#{one.run_id}"}, "sk": {"S": "RUN"}})

    assert house.store.free("acme", one.run_id, None)
    assert house.slots.holders == frozenset()
