"""Waits, and what ends them: tokens, abandoned executions, the sweeper."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from chalicelib.adapters.models.scripted import Dies, Turn, Unavailable
from chalicelib.core import lease
from chalicelib.core.change import Change
from chalicelib.core.errors import WorkflowUnavailable
from chalicelib.core.events import EventType
from chalicelib.core.reply import AskedCall
from chalicelib.core.run import Budget, Run, Status
from chalicelib.core.tools import Answers
from chalicelib.core.transcript import text
from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.route import END
from chalicelib.usecases.sweep import Swept, sweep
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RUN_ID, Tool, Workshop

DOWN = (Turn(text="one two three", fault=Unavailable(times=3)),)


def waiting(workshop: OpenWorkshop) -> Workshop:
    shop = workshop(DOWN)
    shop.advance()
    assert shop.run.status is Status.WAITING
    return shop


def keep(shop: Workshop, token: str, start: int = 1) -> None:
    await_answer(RUN_ID, start, token, runs=shop.runs, workflow=shop.workflow)


def swept(shop: Workshop) -> Swept:
    return sweep(runs=shop.runs, slots=shop.slots, workflow=shop.workflow, clock=shop.time, chance=shop.chance)


def died(shop: Workshop) -> Workshop:
    """The worker took the run, and was never heard of again."""
    run, last = shop.found()
    shop.runs.commit(lease.take(run, tail=last.seq, now=shop.time.now(), write_id=shop.chance.write_id()))
    return shop


def test_a_cancel_wakes_the_execution_of_a_waiting_run(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    keep(shop, "token-1")
    assert shop.cancel().status is Status.CANCELLED
    assert shop.workflow.woken == ["token-1"]
    assert shop.advance() == END


def test_a_token_that_comes_after_the_cancel_wakes_itself(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    shop.cancel()
    keep(shop, "token-1")
    assert shop.workflow.woken == ["token-1"]


def test_a_token_that_is_kept_while_a_cancel_is_on_its_way_is_woken_by_it(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    commit = shop.runs.commit

    def keep_first(change: object) -> None:
        shop.runs.commit = commit  # type: ignore[method-assign]
        keep(shop, "token-1")
        commit(change)  # type: ignore[arg-type]

    shop.runs.commit = keep_first  # type: ignore[method-assign]
    shop.cancel()
    assert shop.workflow.woken == ["token-1"]


def test_a_cancel_between_the_look_and_the_keeping_of_a_token_wakes_it(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    keep_token = shop.runs.keep_token

    def cancel_first(run: Run, token: str) -> None:
        shop.cancel()
        keep_token(run, token)

    shop.runs.keep_token = cancel_first  # type: ignore[method-assign]
    keep(shop, "token-1")
    assert shop.workflow.woken == ["token-1"]
    assert shop.run.token is None


def test_the_token_of_an_older_start_wakes_itself(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    shop.runs.raise_start(shop.run, shop.time.now())
    keep(shop, "token-1")
    assert shop.workflow.woken == ["token-1"]
    assert shop.run.token is None


def test_an_execution_that_sleeps_through_its_answer_is_woken_when_another_one_is_begun(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    keep(shop, "token-1")
    shop.time.advance(timedelta(hours=1).total_seconds())
    assert swept(shop).restarted == 1
    assert (shop.workflow.started, shop.workflow.woken) == ([(RUN_ID, 2)], ["token-1"])
    assert shop.advance(start=1) == END


def test_a_kept_token_makes_the_run_due_when_its_wait_is_over(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)
    keep(shop, "token-1", start=2)
    assert shop.run.due_at == shop.run.wake_at
    assert swept(shop).due == 0


@pytest.mark.parametrize("answers", [Answers.TIME, Answers.OUTSIDE])
def test_a_wait_that_is_longer_than_the_budget_uses_none_of_it(workshop: OpenWorkshop, answers: Answers) -> None:
    """It ends by itself: that of a time well, that for somebody outside without an answer."""
    day = timedelta(days=1).total_seconds()
    calls = (AskedCall("wait", {"seconds": day}),)
    tool = Tool("wait", answers=answers, timeout=day)
    shop = workshop((Turn(calls=calls), Turn(text="Awake.")), [tool], budget=Budget(steps=3, seconds=60))

    shop.advance()
    assert (shop.run.status, shop.told(EventType.RUN_WAITING)[0].data["for"]) == (Status.WAITING, "tool")
    shop.time.advance(day)
    shop.advance()

    assert (shop.run.status, tool.made) == (Status.DONE, [])


def test_a_worker_that_died_is_followed_by_a_new_start_and_the_run_ends_well(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="one two three"),)))
    assert swept(shop).due == 0
    shop.time.advance(lease.LEASE.total_seconds() + 60)
    assert swept(shop) == Swept(due=1, restarted=1, confirmed=0)
    assert shop.workflow.started == [(RUN_ID, 2)]
    assert shop.advance(start=2) == END
    assert [event.data["reason"] for event in shop.told(EventType.RUN_ATTEMPT)] == ["lapsed"]
    assert text(shop.log) == "one two three"


def test_two_sweepers_at_once_give_one_start(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="x"),)))
    shop.time.advance(120)
    raise_start = shop.runs.raise_start

    def rival_first(run: object, due_at: object) -> object:
        shop.runs.raise_start = raise_start  # type: ignore[method-assign]
        swept(shop)
        return raise_start(run, due_at)  # type: ignore[arg-type]

    shop.runs.raise_start = rival_first  # type: ignore[method-assign,assignment]
    assert swept(shop).restarted == 0
    assert shop.workflow.started == [(RUN_ID, 2)]


def test_a_pending_run_whose_start_was_lost_is_started(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    assert swept(shop).due == 0
    shop.time.advance(120)
    assert swept(shop).restarted == 1
    assert shop.advance(start=2) == END


def test_starts_that_lead_to_nothing_come_less_and_less_often(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    for _ in range(60):
        shop.time.advance(60)
        swept(shop)
    assert len(shop.workflow.started) in range(5, 9)


def test_a_start_that_step_functions_refuses_is_made_at_a_later_tick(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.workflow.refuses = WorkflowUnavailable("throttled")
    shop.time.advance(120)
    assert swept(shop).restarted == 0
    shop.workflow.refuses = None
    shop.time.advance(240)
    assert swept(shop).restarted == 1
    assert shop.advance(start=shop.run.start) == END


def test_a_wait_that_nobody_ended_is_settled_by_the_sweeper(workshop: OpenWorkshop) -> None:
    shop = waiting(workshop)
    shop.time.advance(120)
    assert swept(shop).restarted == 1
    assert shop.advance(start=2) == END
    assert text(shop.log) == "one two three"


def test_a_cancel_that_its_holder_did_not_confirm_is_confirmed_by_the_sweeper(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="x"),)))
    assert shop.cancel().status is Status.CANCELLING
    assert swept(shop).confirmed == 0
    shop.time.advance(120)
    assert swept(shop).confirmed == 1
    assert shop.run.status is Status.CANCELLED
    assert shop.log[-1].data["latency_ms"] == 120_000


def before_the_commit(shop: Workshop, do: Callable[[], object]) -> None:
    """Let something happen between what is read and what is written."""
    commit = shop.runs.commit

    def late(change: Change) -> None:
        shop.runs.commit = commit  # type: ignore[method-assign]
        do()
        commit(change)

    shop.runs.commit = late  # type: ignore[method-assign]


def test_a_holder_that_renews_in_the_last_moment_confirms_for_itself(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="x"),)))
    shop.cancel()
    shop.time.advance(120)
    before_the_commit(shop, lambda: shop.runs.renew(lease.renewed(shop.run, shop.time.now())))
    assert swept(shop).confirmed == 0
    assert shop.run.status is Status.CANCELLING


def test_an_execution_that_gives_up_does_not_fail_the_run_of_the_next_one(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    before_the_commit(shop, lambda: shop.runs.raise_start(shop.run, shop.time.now()))
    assert not given_up(shop)
    assert shop.run.status is Status.PENDING


def test_the_execution_of_a_cancelling_run_confirms_in_the_place_of_a_dead_holder(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="x"),)))
    shop.cancel()
    shop.time.advance(31)
    shop.advance()
    assert shop.run.status is Status.CANCELLED


def test_a_tick_is_bounded_and_the_rest_comes_with_the_next(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.submit("run_00000000000000000000000002")
    shop.time.advance(120)
    for _ in range(2):
        assert (
            sweep(
                runs=shop.runs, slots=shop.slots, workflow=shop.workflow, clock=shop.time, chance=shop.chance, limit=1
            ).restarted
            == 1
        )
    assert sorted(start for _, start in shop.workflow.started) == [2, 2]


def test_a_run_whose_execution_ended_under_it_gets_a_new_one_at_once(workshop: OpenWorkshop) -> None:
    shop = died(workshop((Turn(text="x"),)))
    assert put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)
    assert shop.workflow.started == [(RUN_ID, 2)]
    assert not put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)


def test_the_end_of_a_finished_runs_execution_changes_nothing(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.advance()
    assert not put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)
    assert shop.workflow.started == []


def given_up(shop: Workshop, error: str = "KeyError", start: int = 1) -> bool:
    return abandon(
        RUN_ID,
        start,
        error,
        runs=shop.runs,
        slots=shop.slots,
        workflow=shop.workflow,
        clock=shop.time,
        chance=shop.chance,
    )


def test_an_execution_that_failed_for_good_fails_its_run(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    assert given_up(shop)
    assert shop.log[-1].data["error"]["code"] == "internal"


@pytest.mark.parametrize(
    "error", ["Lambda.TooManyRequestsException", "States.Timeout", "Unavailable", "Lambda.Unknown"]
)
def test_a_fault_of_the_platform_never_fails_a_run(workshop: OpenWorkshop, error: str) -> None:
    assert not given_up(workshop((Turn(text="x"),)), error)


def test_a_stale_execution_never_fails_a_healthy_run(workshop: OpenWorkshop) -> None:
    assert not given_up(workshop((Turn(text="x"),)), start=0)
    assert not given_up(died(workshop((Turn(text="x"),))))
    assert not given_up(waiting(workshop))


def test_a_run_that_is_cancelled_in_the_middle_of_a_wait_keeps_its_text(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="one two three four", fault=Dies(times=9)),))
    shop.advance()
    assert shop.run.status is Status.WAITING
    shop.time.advance(1)
    assert shop.cancel().status is Status.CANCELLED
    reset = shop.told(EventType.STEP_RESET)[-1]
    deltas = "".join(event.data["text"] for event in shop.told(EventType.TEXT_DELTA) if event.seq > reset.seq)
    assert deltas
    assert deltas == text(shop.log)
    assert shop.log[-1].at - shop.log[0].at >= timedelta(seconds=1)
