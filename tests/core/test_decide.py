"""What is next follows from the log."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.core.acts import (
    Act,
    AskOutcome,
    CallTools,
    Confirm,
    Finish,
    GiveUpCalls,
    Leave,
    Pause,
    Stop,
    Think,
    ThinkAgain,
)
from chalicelib.core.calls import MARGIN
from chalicelib.core.decide import next_act
from chalicelib.core.progress import MAX_REPEATS
from chalicelib.core.reply import ToolCall
from chalicelib.core.run import Budget, Run, Status
from tests.core.a_log import NOON, RUN_ID, LogInWords, a_log, a_started_log

RUN = Run(
    run_id=RUN_ID,
    account_id="acme",
    agent="demo",
    status=Status.RUNNING,
    budget=Budget(steps=3, seconds=600),
    created_at=NOON,
    attempt=1,
)

PATIENT = replace(RUN, budget=Budget(steps=50, seconds=600))


def asked(log: LogInWords, later: float = 0) -> Act:
    return next_act(RUN, log.events, log.now + timedelta(seconds=later))


def call(index: int, step: int = 1, name: str = "look") -> ToolCall:
    return ToolCall(f"{RUN_ID}-{step}-{index}", name, {})


def made(act: Act) -> tuple[ToolCall, ...]:
    """The calls that are to be made."""
    assert isinstance(act, CallTools)
    return tuple(state.call for state in act.calls)


def test_a_started_run_begins_its_first_step() -> None:
    assert asked(a_started_log()) == Think(1)


def test_a_model_call_that_a_dead_worker_left_is_made_again_and_its_text_dropped() -> None:
    log = a_started_log().step().delta("half a w").taken()
    assert asked(log) == ThinkAgain(1, from_seq=3)


def test_only_the_text_of_the_last_call_is_dropped() -> None:
    log = a_started_log().step().delta("a").taken().reset(1, 3).delta("b").taken()
    assert asked(log) == ThinkAgain(1, from_seq=6)


def test_a_reply_without_calls_is_the_last_word() -> None:
    assert asked(a_started_log().step().delta("ye").said("yes")) == Finish("yes")


def test_a_reply_with_calls_has_them_made() -> None:
    assert made(asked(a_started_log().step().said("", "look", "look"))) == (call(0), call(1))


def test_a_call_that_has_finished_is_never_made_again_when_its_sibling_is() -> None:
    log = a_started_log().step().said("", "look", "look").tool_began(0).tool_began(1).tool_ended(1).taken()
    assert made(asked(log, later=60)) == (call(0),)


def test_when_every_call_has_its_outcome_the_next_step_begins() -> None:
    log = a_started_log().step().said("", "look", "look").tool_began(0).tool_began(1).tool_ended(0).tool_ended(1)
    assert asked(log) == Think(2)


def test_a_call_in_doubt_is_left_alone_until_its_worker_can_not_begin_it_any_more() -> None:
    log = a_started_log().step().said("", "look").tool_began(0, lasting=30)
    began_at = log.now - timedelta(seconds=1)
    safe_from = began_at + timedelta(seconds=30) + MARGIN
    assert asked(log.taken()) == Pause(safe_from)
    assert next_act(RUN, log.events, safe_from - timedelta(milliseconds=1)) == Pause(safe_from)
    assert made(next_act(RUN, log.events, safe_from)) == (call(0),)


@pytest.mark.parametrize("effect", ["read", "idempotent", "keyed"])
def test_a_repeatable_call_in_doubt_is_made_again_under_its_id(effect: str) -> None:
    log = a_started_log().step().said("", "look").tool_began(0, effect=effect).taken()
    assert made(asked(log, later=60)) == (call(0),)


def test_an_irreversible_call_in_doubt_is_given_up_and_never_made_again() -> None:
    log = a_started_log().step().said("", "look").tool_began(0, effect="irreversible").taken()
    assert asked(log, later=60) == GiveUpCalls((call(0),))
    assert asked(log.tool_lost(0), later=60) == AskOutcome((call(0),))


def test_a_message_that_the_model_has_not_seen_needs_another_step() -> None:
    assert asked(a_started_log().step().message().said("yes")) == Think(2)
    assert asked(a_started_log().message().step().said("yes")) == Finish("yes")


def test_a_cancel_is_confirmed_whatever_else_stands_in_the_log() -> None:
    assert asked(a_started_log().step().said("", "look").tool_began().cancelling().tool_ended()) == Confirm()


def test_nothing_follows_the_end() -> None:
    assert asked(a_started_log().step().said("yes").done()) == Leave()


def test_no_step_begins_beyond_the_budget_of_steps() -> None:
    log = a_started_log()
    for number in (1, 2, 3):
        assert asked(log) == Think(number)
        log.step(number).said("", "look", step=number).tool_began(0, number).tool_ended(0, number)
    assert asked(log) == Stop("over_budget", "the budget of 3 steps is used up")


def test_no_act_begins_beyond_the_budget_of_seconds() -> None:
    log = a_started_log()
    began = log.events[1].at
    assert next_act(RUN, log.events, began + timedelta(seconds=599)) == Think(1)
    stopped = next_act(RUN, log.events, began + timedelta(seconds=600))
    assert stopped == Stop("over_budget", "the budget of 600 seconds is used up")


def test_an_input_that_kills_its_worker_does_not_loop_for_ever() -> None:
    log = a_started_log().step().taken().reset().taken()
    assert isinstance(asked(log), ThinkAgain)
    stopped = asked(log.reset().taken())
    assert isinstance(stopped, Stop)
    assert stopped.code == "crash_loop"


def test_a_worker_that_dies_before_the_first_step_does_not_loop_for_ever_either() -> None:
    stopped = asked(a_started_log().taken().taken().taken())
    assert isinstance(stopped, Stop)
    assert stopped.code == "crash_loop"


def test_progress_begins_the_count_of_starts_anew() -> None:
    log = a_started_log().taken().taken().step().said("", "look").taken().taken()
    assert isinstance(asked(log), CallTools)


def test_slices_and_waits_for_a_provider_are_no_crashes() -> None:
    log = a_started_log().step().taken("slice").taken("slice").taken("slice").waiting().resumed()
    assert isinstance(asked(log), ThinkAgain)


def test_an_agent_that_is_told_the_same_again_and_again_is_stopped() -> None:
    log = a_started_log()
    for number in range(1, MAX_REPEATS + 1):
        assert next_act(PATIENT, log.events, log.now) == Think(number)
        log.step(number).said("", "look", step=number).tool_began(0, number).tool_ended(0, number)
    stopped = next_act(PATIENT, log.events, log.now)
    assert isinstance(stopped, Stop)
    assert stopped.code == "no_progress"


@pytest.mark.parametrize("last", ["another answer", "a message"])
def test_news_of_any_kind_are_progress(last: str) -> None:
    log = a_started_log()
    for number in range(1, MAX_REPEATS + 1):
        content = "seen" if number < MAX_REPEATS or last == "a message" else last
        log.step(number).said("", "look", step=number).tool_began(0, number).tool_ended(0, number, content)
    if last == "a message":
        log.message()
    assert next_act(PATIENT, log.events, log.now) == Think(MAX_REPEATS + 1)


def test_a_pending_log_asks_like_any_other() -> None:
    assert asked(a_log().accepted()) == Think(1)
