"""The table of transitions, every pair of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.errors import IllegalMove
from chalicelib.core.events import ENDS, EventType, Stamp
from chalicelib.core.run import TERMINAL, Budget, Run, Status, Trigger
from chalicelib.core.transitions import TRANSITIONS, move, status_after, status_told
from tests.core.a_log import NOON, a_log, a_started_log

STAMP = Stamp(NOON, 1, "w")

ALLOWED = {
    (Status.PENDING, Trigger.TAKE): (Status.RUNNING, EventType.RUN_STARTED),
    (Status.PENDING, Trigger.FAIL): (Status.FAILED, EventType.RUN_FAILED),
    (Status.PENDING, Trigger.CANCEL): (Status.CANCELLED, EventType.RUN_CANCELLED),
    (Status.RUNNING, Trigger.TAKE): (Status.RUNNING, EventType.RUN_ATTEMPT),
    (Status.RUNNING, Trigger.FIRST_TOKEN): (Status.STREAMING, EventType.TEXT_DELTA),
    (Status.RUNNING, Trigger.WAIT): (Status.WAITING, EventType.RUN_WAITING),
    (Status.RUNNING, Trigger.FINISH): (Status.DONE, EventType.RUN_DONE),
    (Status.RUNNING, Trigger.FAIL): (Status.FAILED, EventType.RUN_FAILED),
    (Status.RUNNING, Trigger.CANCEL): (Status.CANCELLING, EventType.RUN_CANCELLING),
    (Status.STREAMING, Trigger.TAKE): (Status.RUNNING, EventType.RUN_ATTEMPT),
    (Status.STREAMING, Trigger.WAIT): (Status.WAITING, EventType.RUN_WAITING),
    (Status.STREAMING, Trigger.FINISH): (Status.DONE, EventType.RUN_DONE),
    (Status.STREAMING, Trigger.FAIL): (Status.FAILED, EventType.RUN_FAILED),
    (Status.STREAMING, Trigger.CANCEL): (Status.CANCELLING, EventType.RUN_CANCELLING),
    (Status.WAITING, Trigger.TAKE): (Status.RUNNING, EventType.RUN_RESUMED),
    (Status.WAITING, Trigger.WAIT): (Status.WAITING, EventType.RUN_WAITING),
    (Status.WAITING, Trigger.FAIL): (Status.FAILED, EventType.RUN_FAILED),
    (Status.WAITING, Trigger.CANCEL): (Status.CANCELLED, EventType.RUN_CANCELLED),
    (Status.CANCELLING, Trigger.CONFIRM): (Status.CANCELLED, EventType.RUN_CANCELLED),
}
"""Written out a second time on purpose: the table must say what the design says, not what the table says."""

HELD_FOR = timedelta(seconds=30)


def a_run_in(status: Status) -> Run:
    return Run(
        run_id="run_00000000000000000000000001",
        account_id="acme",
        agent="demo",
        status=status,
        budget=Budget(steps=5, seconds=60),
        created_at=NOON,
        attempt=1,
        lease_until=NOON + HELD_FOR,
        due_at=NOON + HELD_FOR,
        waiting_for="provider",
        waiting_seq=3,
        wake_at=NOON + HELD_FOR,
    )


@pytest.mark.parametrize(("status", "trigger"), [*product(Status, Trigger)])
def test_every_pair_of_status_and_trigger_does_what_the_design_says(status: Status, trigger: Trigger) -> None:
    run = a_run_in(status)
    if (status, trigger) not in ALLOWED:
        with pytest.raises(IllegalMove) as refused:
            move(run, trigger, tail=6, stamp=STAMP, data={})
        assert (refused.value.status, refused.value.trigger) == (status, trigger)
        return
    change = move(run, trigger, tail=6, stamp=STAMP, data={"a": 1})
    assert (change.after.status, change.event.type) == ALLOWED[status, trigger]
    assert change.before is run
    assert (change.event.seq, change.event.data, change.event.write_id) == (7, {"a": 1}, "w")


@pytest.mark.parametrize(("status", "trigger"), [*product(sorted(TERMINAL), Trigger)])
def test_a_finished_run_refuses_every_trigger(status: Status, trigger: Trigger) -> None:
    with pytest.raises(IllegalMove):
        move(a_run_in(status), trigger, tail=0, stamp=STAMP, data={})


def test_every_status_has_a_row_and_only_the_terminal_rows_are_empty() -> None:
    assert set(TRANSITIONS) == set(Status)
    assert {status for status, edges in TRANSITIONS.items() if not edges} == TERMINAL


def test_an_edge_ends_the_log_exactly_if_it_ends_the_run() -> None:
    edges = [edge for row in TRANSITIONS.values() for edge in row.values()]
    assert all((edge.tells in ENDS) == edge.to.terminal for edge in edges)


@pytest.mark.parametrize(("status", "trigger"), [pair for pair in ALLOWED if ALLOWED[pair][0].terminal])
def test_an_end_frees_the_run_of_its_holder_its_wait_and_the_sweeper(status: Status, trigger: Trigger) -> None:
    after = move(a_run_in(status), trigger, tail=6, stamp=STAMP, data={}).after
    assert (after.lease_until, after.due_at, after.waiting_for, after.waiting_seq, after.wake_at) == (None,) * 5
    assert after.ended_at == STAMP.at


def test_a_wait_frees_the_run_of_its_holder() -> None:
    assert move(a_run_in(Status.STREAMING), Trigger.WAIT, tail=6, stamp=STAMP, data={}).after.lease_until is None


def test_only_the_first_first_token_is_the_time_to_first_token() -> None:
    first = move(a_run_in(Status.RUNNING), Trigger.FIRST_TOKEN, tail=6, stamp=STAMP, data={}).after
    taken = move(first, Trigger.TAKE, tail=7, stamp=STAMP, data={}, guards=NOBODY_HOLDS_IT).after
    later = replace(STAMP, at=NOON + HELD_FOR)
    again = move(taken, Trigger.FIRST_TOKEN, tail=8, stamp=later, data={}).after
    assert again.first_token_at == first.first_token_at == NOON


def test_a_log_implies_the_status_that_its_last_change_made() -> None:
    log = a_started_log().step().delta("a")
    assert status_told(a_log().accepted().events) is Status.PENDING
    assert status_told(log.events) is Status.STREAMING
    assert status_told(log.taken().events) is Status.RUNNING
    assert status_told(log.step().delta("b").cancelling().delta("c").events) is Status.CANCELLING


@pytest.mark.parametrize("status", [*Status])
def test_an_event_that_tells_of_no_change_leaves_the_status(status: Status) -> None:
    assert status_after(status, EventType.TOOL_PROGRESS) is status
