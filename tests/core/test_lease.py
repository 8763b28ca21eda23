"""Who may take a run, and what taking makes of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.core import lease
from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.events import EventType
from chalicelib.core.run import TERMINAL, Run, Status
from tests.core.a_log import NOON
from tests.core.test_transitions import a_run_in

SECOND = timedelta(seconds=1)
HELD = [Status.RUNNING, Status.STREAMING]


def unheld(status: Status) -> Run:
    return replace(a_run_in(status), lease_until=None, wake_at=None, waiting_seq=None)


@pytest.mark.parametrize("status", HELD)
def test_a_held_run_is_taken_only_once_its_lease_has_lapsed(status: Status) -> None:
    run = a_run_in(status)
    assert run.lease_until is not None
    assert not lease.may_take(run, run.lease_until - SECOND)
    assert lease.may_take(run, run.lease_until)


@pytest.mark.parametrize("status", [Status.PENDING, *HELD])
def test_a_run_that_nobody_holds_may_be_taken(status: Status) -> None:
    assert lease.may_take(unheld(status), NOON)


@pytest.mark.parametrize("status", [Status.CANCELLING, *sorted(TERMINAL)])
def test_a_cancelling_or_finished_run_is_never_taken(status: Status) -> None:
    assert not lease.may_take(unheld(status), NOON + 1000 * SECOND)


def test_a_waiting_run_is_taken_when_its_wait_is_over_or_answered() -> None:
    waiting = replace(unheld(Status.WAITING), wake_at=NOON + SECOND, waiting_seq=4)
    assert not lease.may_take(waiting, NOON)
    assert lease.may_take(waiting, NOON + SECOND)
    assert not lease.may_take(replace(waiting, wake_seq=3), NOON)
    assert lease.may_take(replace(waiting, wake_seq=5), NOON)


def test_the_attempt_rises_at_every_taking_and_guards_against_a_renewal() -> None:
    change = lease.take(unheld(Status.RUNNING), tail=8, now=NOON, write_id="w")
    assert (change.after.attempt, change.event.attempt, change.event.data["attempt"]) == (2, 2, 2)
    assert change.after.lease_until == change.after.due_at == NOON + lease.LEASE
    assert change.guards == NOBODY_HOLDS_IT


@pytest.mark.parametrize(
    ("run", "type", "reason"),
    [
        (replace(unheld(Status.PENDING), attempt=0), EventType.RUN_STARTED, "submitted"),
        (unheld(Status.RUNNING), EventType.RUN_ATTEMPT, "slice"),
        (a_run_in(Status.STREAMING), EventType.RUN_ATTEMPT, "lapsed"),
        (replace(unheld(Status.WAITING), wake_at=NOON), EventType.RUN_RESUMED, "wait over"),
        (replace(unheld(Status.WAITING), waiting_seq=4, wake_seq=5), EventType.RUN_RESUMED, "answered"),
    ],
)
def test_the_event_of_a_taking_tells_why(run: Run, type: EventType, reason: str) -> None:
    event = lease.take(run, tail=8, now=NOON, write_id="w").event
    assert (event.type, event.data["reason"]) == (type, reason)


def test_a_run_that_is_handed_back_has_no_holder_and_is_due_soon() -> None:
    back = lease.handed_back(a_run_in(Status.RUNNING), NOON)
    assert (back.lease_until, back.due_at) == (None, NOON + lease.UNHELD_GRACE)


def test_a_renewal_comes_three_times_in_a_lease() -> None:
    assert lease.renewed(a_run_in(Status.RUNNING), NOON).lease_until == NOON + 3 * lease.RENEW_EVERY
