"""What a cancel writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.core import cancelling
from chalicelib.core.change import NOBODY_HOLDS_IT
from chalicelib.core.errors import IllegalMove
from chalicelib.core.events import OUTSIDE, EventType, Stamp
from chalicelib.core.run import Status
from tests.builders import a_run
from tests.core.a_log import RUN_ID, LogInWords, a_log, a_started_log


def a_stamp(log: LogInWords, later: timedelta = timedelta()) -> Stamp:
    return Stamp(log.now + later, OUTSIDE, "write")


@pytest.mark.parametrize("status", [Status.RUNNING, Status.STREAMING])
def test_a_held_run_is_told_to_stop_and_keeps_its_holder(status: Status) -> None:
    log = a_started_log()
    held = replace(a_run(status=status), lease_until=log.now + timedelta(seconds=30))

    change = cancelling.order(held, tail=1, stamp=a_stamp(log), actor="key_1", reason="no need")

    assert change.event.type is EventType.RUN_CANCELLING
    assert change.event.data == {"actor": "key_1", "reason": "no need"}
    assert change.event.seq == 2
    assert (change.after.status, change.after.lease_until) == (Status.CANCELLING, held.lease_until)


@pytest.mark.parametrize("status", [Status.PENDING, Status.WAITING])
def test_a_run_that_nobody_holds_is_cancelled_on_the_spot_and_its_wait_is_over(status: Status) -> None:
    log = a_log().accepted()
    run = replace(a_run(status=status), due_at=log.now, waiting_for="provider")

    change = cancelling.at_once(run, log.events, stamp=a_stamp(log), actor="key_1", reason=None)

    assert change.event.type is EventType.RUN_CANCELLED
    assert change.event.data == {
        "actor": "key_1",
        "reason": None,
        "latency_ms": 0,
        "superseded_by": None,
        "unsettled": [],
    }
    after = change.after
    assert (after.status, after.due_at, after.waiting_for) == (Status.CANCELLED, None, None)
    assert after.ended_at == change.event.at


def test_the_confirmation_tells_who_asked_why_and_how_long_it_took() -> None:
    log = a_started_log().cancelling()
    latency = timedelta(milliseconds=840)

    change = cancelling.confirm(
        a_run(status=Status.CANCELLING), log.events, stamp=Stamp(log.events[-1].at + latency, 1, "write")
    )

    assert change.event.type is EventType.RUN_CANCELLED
    assert (change.event.data["actor"], change.event.data["latency_ms"]) == ("key_1", 840)
    assert change.event.seq == 3


def test_the_latency_is_counted_from_the_order_whatever_was_written_since() -> None:
    log = a_started_log().step().cancelling().said("partly")

    change = cancelling.confirm(a_run(status=Status.CANCELLING), log.events, stamp=a_stamp(log))

    assert change.event.data["latency_ms"] == 2000


def test_a_clock_that_lags_makes_no_negative_latency() -> None:
    log = a_started_log().cancelling()

    change = cancelling.confirm(a_run(status=Status.CANCELLING), log.events, stamp=a_stamp(log, -timedelta(minutes=1)))

    assert change.event.data["latency_ms"] == 0


def test_whoever_confirms_in_the_holders_place_gives_way_to_a_renewal() -> None:
    log = a_started_log().cancelling()

    change = cancelling.confirm(a_run(status=Status.CANCELLING), log.events, stamp=a_stamp(log), guards=NOBODY_HOLDS_IT)

    assert "lease_until" in change.guards


def test_calls_that_were_started_and_never_settled_are_named_in_the_order_of_their_start() -> None:
    log = a_started_log().step().said("", "look", "look", "look", "look")
    log.tool_began(3).tool_began(0).tool_began(1).tool_began(2).tool_ended(0).tool_lost(2)

    assert cancelling.unsettled(log.events) == [f"{RUN_ID}-1-3", f"{RUN_ID}-1-1"]


def test_a_call_that_was_begun_twice_is_named_once() -> None:
    log = a_started_log().step().said("", "look").tool_began().taken().tool_began()

    assert cancelling.unsettled(log.events) == [f"{RUN_ID}-1-0"]


def test_without_an_order_there_is_nothing_to_confirm() -> None:
    log = a_started_log()

    with pytest.raises(ValueError, match="to confirm"):
        cancelling.confirm(a_run(status=Status.CANCELLING), log.events, stamp=a_stamp(log))


@pytest.mark.parametrize("status", [Status.DONE, Status.FAILED, Status.CANCELLED, Status.CANCELLING])
def test_a_run_is_ordered_to_stop_once_and_never_after_its_end(status: Status) -> None:
    log = a_started_log()

    with pytest.raises(IllegalMove):
        cancelling.order(a_run(status=status), tail=1, stamp=a_stamp(log), actor="key_1", reason=None)


def test_a_call_that_is_made_again_is_unsettled_again() -> None:
    log = a_started_log().step().said("", "look").tool_began(effect="irreversible").tool_lost()
    log.asked(question="outcome").answered("retry")
    assert cancelling.unsettled(log.events) == []
    assert cancelling.unsettled(log.tool_began(effect="irreversible").events) == [log.call_id(0)]
