"""What a worker makes of an event in its way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.core.events import ENDS, OUTSIDE, Event, EventType
from chalicelib.core.fence import Verdict, judge
from tests.core.a_log import NOON

FOUND = Event(7, EventType.TEXT_DELTA, NOON, {}, 2, "theirs")


@pytest.mark.parametrize("type", [*EventType])
def test_the_own_write_id_is_a_success_whatever_it_was(type: EventType) -> None:
    assert judge(replace(FOUND, type=type), "theirs") is Verdict.OURS


@pytest.mark.parametrize("type", sorted(ENDS))
def test_a_terminal_event_stops_whoever_wrote_it(type: EventType) -> None:
    assert judge(replace(FOUND, type=type), "mine") is Verdict.ENDED
    assert judge(replace(FOUND, type=type, attempt=OUTSIDE), "mine") is Verdict.ENDED


@pytest.mark.parametrize("type", [type for type in EventType if type not in ENDS])
def test_an_unknown_write_of_any_attempt_fences_the_own_number_too(type: EventType) -> None:
    assert judge(replace(FOUND, type=type), "mine") is Verdict.FENCED


def test_a_cancel_is_told_apart_from_other_news() -> None:
    outside = replace(FOUND, attempt=OUTSIDE)
    assert judge(replace(outside, type=EventType.RUN_CANCELLING), "mine") is Verdict.CANCELLING
    assert judge(replace(outside, type=EventType.MESSAGE_ADDED), "mine") is Verdict.NEWS


def test_what_is_read_binds_like_a_collision() -> None:
    assert judge(FOUND) is Verdict.FENCED
