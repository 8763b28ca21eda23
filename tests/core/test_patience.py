"""How long a failing provider is borne with."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.core.errors import ModelRefused, ModelUnavailable
from chalicelib.core.patience import LONGEST_WAIT, Again, GiveUp, Wait, after
from tests.core.a_log import a_started_log

DOWN = ModelUnavailable("503")


def test_a_refusal_is_final() -> None:
    assert after(ModelRefused("no such model"), a_started_log().step().events) == GiveUp()


def test_a_failed_call_is_made_again_soon_and_then_less_soon() -> None:
    log = a_started_log().step()
    assert after(DOWN, log.events) == Again(timedelta(seconds=1))
    assert after(DOWN, log.reset().events) == Again(timedelta(seconds=2))


def test_after_three_calls_in_a_row_the_run_waits_without_a_worker() -> None:
    assert after(DOWN, a_started_log().step().reset().reset().events) == Wait(timedelta(seconds=30))


def test_each_wait_of_a_step_is_longer_up_to_a_bound() -> None:
    log = a_started_log().step()
    lasting = []
    for _ in range(7):
        log.reset().reset().waiting().resumed().reset().reset().reset()
        answer = after(DOWN, log.events)
        assert isinstance(answer, Wait)
        lasting.append(answer.lasting)
    assert lasting[:3] == [timedelta(seconds=60), timedelta(seconds=120), timedelta(seconds=240)]
    assert lasting[-1] == LONGEST_WAIT


@pytest.mark.parametrize(("seconds", "answer"), [(5, Again(timedelta(seconds=5))), (90, Wait(timedelta(seconds=90)))])
def test_a_provider_that_names_a_time_is_taken_at_its_word(seconds: float, answer: object) -> None:
    assert after(ModelUnavailable("429", retry_after=seconds), a_started_log().step().events) == answer
