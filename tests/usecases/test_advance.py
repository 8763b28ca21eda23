"""Carrying a run on, from its start to its end."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from chalicelib.adapters.models.scripted import Dies, Refuses, Silent, Turn, Unavailable
from chalicelib.core.agent import Agent
from chalicelib.core.errors import WorkflowUnavailable
from chalicelib.core.events import EventType
from chalicelib.core.run import Budget, Run, Status
from chalicelib.core.tools import Effect
from chalicelib.core.transcript import text
from chalicelib.usecases.advance import LAPS_PER_EXECUTION
from chalicelib.usecases.route import CONTINUE, END, Next
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RUN_ID, Tool, asks


def test_a_run_is_carried_from_its_start_to_its_last_word(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="It is noon."),))
    assert shop.advance() == END
    assert shop.words == [
        "run.accepted",
        "run.started",
        "step.started",
        "text.delta",
        "text.delta",
        "model.replied",
        "run.done",
    ]
    assert shop.run.status is Status.DONE
    assert shop.log[-1].data == {"output": {"text": "It is noon."}}


def test_a_step_calls_its_tools_and_the_next_step_is_shown_their_answers(workshop: OpenWorkshop) -> None:
    tool = Tool()
    shop = workshop((asks("look", "look", text="I look twice."), Turn(text="Blue.")), [tool])
    assert shop.advance() == END
    assert len(tool.made) == 2
    assert [event.data["call_id"][-3:] for event in shop.told(EventType.TOOL_STARTED)] == ["1-0", "1-1"]
    assert [event.data["content"] for event in shop.told(EventType.TOOL_FINISHED)] == ["seen", "seen"]
    assert text(shop.log) == "I look twice.Blue."


def test_a_slice_of_one_step_hands_the_run_back_after_each(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("look"), asks("look"), Turn(text="Done.")), [Tool()])
    assert [shop.advance(steps=1) for _ in range(3)] == [CONTINUE, CONTINUE, END]
    takings = shop.told(EventType.RUN_STARTED, EventType.RUN_ATTEMPT)
    assert [(event.data["attempt"], event.data["reason"]) for event in takings] == [
        (1, "submitted"),
        (2, "slice"),
        (3, "slice"),
    ]


def test_no_model_call_begins_without_its_time_left_in_the_lambda(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    assert shop.advance(seconds=299) == CONTINUE
    assert shop.words == ["run.accepted", "run.started"]
    assert shop.run.lease_until is None


def test_a_model_call_that_outlasts_its_lambda_is_broken_off_and_made_again_by_the_next(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="a b c d", fault=Silent(400, after=2)),))
    assert shop.advance(seconds=301) == CONTINUE
    assert shop.told(EventType.TEXT_DELTA)
    assert shop.advance(seconds=900) == END
    assert text(shop.log) == "a b c d"
    assert shop.told(EventType.STEP_RESET)[0].data["from_seq"] == 3


def test_an_older_start_than_the_runs_touches_nothing(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    assert shop.advance(start=0) == END
    assert shop.words == ["run.accepted"]


def test_a_finished_run_is_left_alone(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.advance()
    before = shop.words
    assert shop.advance() == END
    assert shop.words == before


def test_a_run_in_anothers_hands_is_waited_for_until_its_lease_lapses(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="a b c", fault=Silent(60, after=1)),))
    routes: list[object] = []
    shop.at(5, lambda: routes.append(shop.advance()))
    shop.advance()
    assert [getattr(route, "next", None) for route in routes] == [Next.WAIT]


def test_before_its_history_is_full_an_execution_hands_over_to_the_next(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    assert shop.advance(lap=LAPS_PER_EXECUTION) == END
    assert shop.run.start == 2
    assert [start for _, start in shop.workflow.started] == [2]
    assert shop.advance(start=2) == END
    assert shop.run.status is Status.DONE


def test_a_hand_over_that_a_twin_got_ahead_of_is_tried_again(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("look"), Turn(text="x")), [Tool("look")])
    raise_start = shop.runs.raise_start

    def twin_first(run: Run, due_at: datetime) -> Run:
        shop.runs.raise_start = raise_start  # type: ignore[method-assign]
        assert shop.advance(steps=1) == CONTINUE
        return raise_start(run, due_at)

    shop.runs.raise_start = twin_first  # type: ignore[method-assign]
    assert shop.advance(lap=LAPS_PER_EXECUTION).next is Next.WAIT
    assert shop.advance(lap=LAPS_PER_EXECUTION + 1) == END
    assert shop.workflow.started == [(RUN_ID, 2)]


def test_a_start_that_is_refused_at_the_hand_over_is_left_to_the_sweeper(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.workflow.refuses = WorkflowUnavailable("throttled")
    assert shop.advance(lap=LAPS_PER_EXECUTION) == END
    assert shop.run.due_at is not None


def test_a_stream_that_dies_half_way_is_made_again_after_a_reset(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="one two three four", fault=Dies(times=1)),))
    assert shop.advance() == END
    reset = shop.told(EventType.STEP_RESET)[0]
    deltas = "".join(event.data["text"] for event in shop.told(EventType.TEXT_DELTA) if event.seq > reset.seq)
    assert deltas == text(shop.log) == "one two three four"


def test_a_provider_that_stays_down_makes_the_run_wait_without_a_worker(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="back", fault=Unavailable(times=3)),))
    route = shop.advance()
    assert (route.next, route.seconds) == (Next.ASK, 30)
    run = shop.run
    assert (run.status, run.waiting_for, run.lease_until) == (Status.WAITING, "provider", None)
    assert run.due_at == run.wake_at == shop.time.now() + timedelta(seconds=30)
    assert shop.advance().next is Next.ASK
    shop.time.advance(30)
    assert shop.advance() == END
    assert text(shop.log) == "back"
    assert EventType.RUN_RESUMED in [event.type for event in shop.log]


def test_a_provider_that_refuses_ends_the_run(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x", fault=Refuses("no such model")),))
    assert shop.advance() == END
    assert shop.log[-1].data["error"] == {"code": "model_refused", "detail": "no such model"}


def test_the_budget_of_steps_ends_the_run(workshop: OpenWorkshop) -> None:
    shop = workshop((asks("look"), asks("look"), asks("look")), [Tool()], Budget(steps=2, seconds=60))
    assert shop.advance() == END
    assert shop.log[-1].data["error"]["code"] == "over_budget"
    assert len(shop.told(EventType.STEP_STARTED)) == 2


def test_the_budget_of_seconds_ends_a_run_in_the_middle_of_a_model_call(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="a b c d e f g h", pace=2),), budget=Budget(steps=5, seconds=9))
    began = shop.time.now()
    assert shop.advance() == END
    assert shop.time.now() - began == timedelta(seconds=9)
    assert shop.log[-1].data["error"]["code"] == "over_budget"
    assert shop.told(EventType.MODEL_REPLIED)[0].data["partial"] is True


def test_the_text_that_was_streamed_is_the_text_that_was_replied_however_the_run_ends(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="a b c d e f g h", pace=2),), budget=Budget(steps=5, seconds=9))
    shop.advance()
    assert "".join(event.data["text"] for event in shop.told(EventType.TEXT_DELTA)) == text(shop.log) == "a b c d "


def test_a_message_in_the_middle_of_a_step_gets_a_step_of_its_own(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="one two", pace=1), Turn(text="three")))
    shop.at(1.5, lambda: shop.say("and three?"))
    assert shop.advance() == END
    assert [event.data["step"] for event in shop.told(EventType.STEP_STARTED)] == [1, 2]
    assert shop.words.index("message.added") < shop.words.index("model.replied")


def test_an_agent_that_is_gone_ends_the_run(workshop: OpenWorkshop) -> None:
    shop = workshop((Turn(text="x"),))
    shop.agent = Agent("another", "", "", "scripted:test")
    assert shop.advance() == END
    assert shop.log[-1].data["error"]["code"] == "unknown_agent"


@pytest.mark.parametrize("effect", [Effect.READ, Effect.IRREVERSIBLE])
def test_a_tool_that_does_not_come_back_is_told_by_what_it_may_have_done(
    workshop: OpenWorkshop, effect: Effect
) -> None:
    tool = Tool(effect=effect, timeout=7)
    shop = workshop((asks("look"), Turn(text="Well.")), [tool])
    tool.works = shop.after(100, "late")
    route = shop.advance()
    if effect is Effect.READ:
        assert route == END
        assert shop.told(EventType.TOOL_FINISHED)[0].data["ok"] is False
    else:
        assert route.next is Next.ASK, "a person is asked whether it happened"
        assert len(shop.told(EventType.TOOL_UNKNOWN)) == 1
    assert len(tool.made) == 1
