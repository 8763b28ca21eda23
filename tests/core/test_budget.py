"""What counts against a run's time, and what does not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.core.budget import out_of_time, time_is_up
from chalicelib.core.run import Budget
from tests.core.a_log import a_log, a_started_log

BUDGET = Budget(steps=1, seconds=60)


def test_time_counts_from_the_first_hold_and_not_from_the_queue() -> None:
    pending = a_log().accepted()
    assert not out_of_time(BUDGET, pending.events, pending.now + timedelta(days=1))
    log = a_started_log()
    assert time_is_up(BUDGET, log.events, log.now) == log.events[1].at + timedelta(seconds=60)


@pytest.mark.parametrize(("reason", "extra"), [("approval", 1), ("tool", 1), ("budget", 1), ("provider", 0)])
def test_waits_for_people_do_not_count_and_waits_for_a_provider_do(reason: str, extra: int) -> None:
    log = a_started_log().waiting(reason).resumed()
    assert time_is_up(BUDGET, log.events, log.now) == log.events[1].at + timedelta(seconds=60 + extra)


def test_a_wait_that_goes_on_does_not_count_either() -> None:
    log = a_started_log().waiting("approval")
    assert not out_of_time(BUDGET, log.events, log.now + timedelta(days=30))
