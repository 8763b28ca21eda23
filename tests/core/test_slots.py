"""What a change of a run does to the slots of its account, and which runs have a right to one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.core import lease, slots
from chalicelib.core.run import TERMINAL, Run, Slot, Status, Trigger
from chalicelib.core.slots import SETTLED, Slots, Use
from tests.builders import NOON, RUN_ID, a_held_run, a_run, a_stamp, move

AT_WORK = a_held_run(slot=Slot.HELD)
IN_LINE = a_run(slot=Slot.WANTED)
BACK_IN_LINE = a_run(status=Status.WAITING, attempt=1, waiting_for=slots.SLOT, waiting_seq=7, slot=Slot.WANTED)
WAITING = a_run(status=Status.WAITING, attempt=1, waiting_for="provider", waiting_seq=7, wake_at=NOON)


@pytest.mark.parametrize(
    ("before", "after", "use"),
    [
        (a_run(), AT_WORK, Use.TAKE),
        (WAITING, AT_WORK, Use.TAKE),
        (IN_LINE, replace(IN_LINE, slot=Slot.HELD), Use.TAKE),
        (AT_WORK, replace(AT_WORK, status=Status.STREAMING), None),
        (AT_WORK, WAITING, Use.FREE),
        (AT_WORK, replace(AT_WORK, status=Status.DONE, slot=None), Use.FREE),
        (replace(IN_LINE, slot=Slot.HELD), a_run(status=Status.CANCELLED), Use.FREE),
        (a_run(), IN_LINE, Use.LINE_UP),
        (WAITING, BACK_IN_LINE, Use.LINE_UP),
        (BACK_IN_LINE, a_run(status=Status.CANCELLED), Use.FREE),
        (IN_LINE, a_run(status=Status.CANCELLED), None),
        (WAITING, a_run(status=Status.CANCELLED), None),
    ],
)
def test_a_change_of_a_run_says_what_it_does_to_the_slots(before: Run, after: Run, use: Use | None) -> None:
    assert slots.use(before, after) is use


def test_a_taken_run_holds_its_slot_until_it_waits_or_ends() -> None:
    run = lease.take(a_run(), tail=0, now=NOON, write_id="w").after
    assert run.slot is Slot.HELD
    assert lease.take(replace(run, lease_until=None), tail=1, now=NOON, write_id="w").after.slot is Slot.HELD
    for status in Status:
        kept = status in (Status.RUNNING, Status.STREAMING, Status.CANCELLING)
        assert slots.after(run, status) is (Slot.HELD if kept else None)


@pytest.mark.parametrize("run", [AT_WORK, IN_LINE, BACK_IN_LINE, WAITING, a_run(), replace(IN_LINE, slot=Slot.HELD)])
def test_sound_runs_fit_their_slots(run: Run) -> None:
    assert slots.fits(run)


@pytest.mark.parametrize(
    "run",
    [
        replace(AT_WORK, slot=None),
        replace(AT_WORK, slot=Slot.WANTED),
        replace(AT_WORK, status=Status.CANCELLING, slot=None),
        replace(WAITING, slot=Slot.HELD),
        replace(BACK_IN_LINE, slot=None),
        *(a_run(status=status, slot=Slot.HELD) for status in TERMINAL),
    ],
)
def test_a_slot_that_the_status_does_not_want_does_not_fit(run: Run) -> None:
    assert not slots.fits(run)


def test_nobody_takes_a_run_that_stands_in_line_whatever_else_ends_its_wait() -> None:
    answered = replace(BACK_IN_LINE, wake_seq=9, wake_at=NOON)

    assert not lease.may_take(IN_LINE, NOON + timedelta(days=1))
    assert not lease.may_take(answered, NOON + timedelta(days=1))


def test_a_run_whose_turn_has_come_may_be_taken_and_says_why_it_waited() -> None:
    turned = replace(BACK_IN_LINE, slot=Slot.HELD)

    assert lease.may_take(turned, NOON)
    assert lease.take(turned, tail=7, now=NOON, write_id="w").event.data == {"attempt": 2, "reason": "slot"}


def test_a_run_whose_wait_is_over_waits_on_for_its_turn() -> None:
    change = lease.line_up(WAITING, tail=8, stamp=a_stamp())

    assert (change.after.waiting_for, change.after.waiting_seq, change.after.wake_at) == ("slot", 9, None)
    assert change.after.slot is Slot.WANTED
    assert change.event.data["for"] == "slot"


def test_slots_say_who_stands_in_them_without_a_right() -> None:
    found = Slots("acme", frozenset({RUN_ID, "run_other"}), frozenset({"run_back"}))

    assert not found.holds_too_long(RUN_ID, AT_WORK)
    assert found.holds_too_long(RUN_ID, WAITING)
    assert found.holds_too_long("run_other", None)
    assert not found.holds_too_long("run_back", BACK_IN_LINE)
    assert found.holds_too_long("run_back", AT_WORK)


def test_an_empty_line_is_believed_only_once_the_index_has_had_its_time() -> None:
    lined_up = Slots("acme", lined_up_at=NOON)

    assert not lined_up.line_may_be_forgotten(NOON + SETTLED)
    assert lined_up.line_may_be_forgotten(NOON + SETTLED + timedelta(seconds=1))
    assert not replace(lined_up, resuming=frozenset({RUN_ID})).line_may_be_forgotten(NOON + timedelta(days=1))


def test_an_end_of_a_run_in_line_takes_it_out_of_the_line() -> None:
    ended = move(BACK_IN_LINE, Trigger.CANCEL, tail=8, stamp=a_stamp(), data={}).after

    assert ended.slot is None
