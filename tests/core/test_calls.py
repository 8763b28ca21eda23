"""What is next for the calls of a step: who is asked, who is waited for, what is concluded."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.core import steps, transcript
from chalicelib.core.acts import Act, AskOutcome, Await, CallTools, Conclude, Expire, Stop, Think
from chalicelib.core.decide import next_act
from chalicelib.core.events import EventType
from chalicelib.core.reply import ToolCall, ToolSaid
from chalicelib.core.run import Budget, Run, Status
from tests.core.a_log import NOON, RUN_ID, LogInWords, a_started_log

RUN = Run(
    run_id=RUN_ID,
    account_id="acme",
    agent="demo",
    status=Status.RUNNING,
    budget=Budget(steps=9, seconds=10**6),
    created_at=NOON,
    attempt=1,
)


def act(log: LogInWords, later: float = 0) -> Act:
    return next_act(RUN, log.events, log.now + timedelta(seconds=later))


def made(act: Act) -> list[str]:
    assert isinstance(act, CallTools)
    return [state.call.call_id for state in act.calls]


def concluded(act: Act) -> list[tuple[bool, str]]:
    assert isinstance(act, Conclude)
    return [(result.ok, result.content) for _, result in act.outcomes]


def asking(*names: str) -> LogInWords:
    return a_started_log().step().said("", *names)


def expiry(log: LogInWords) -> datetime:
    return datetime.fromisoformat(log.events[-1].data["expires_at"])


def test_a_run_waits_for_the_answer_until_the_question_expires() -> None:
    log = asking("look").asked()
    assert act(log) == Await("approval", expiry(log))


def test_a_sibling_is_made_while_a_person_thinks() -> None:
    log = asking("look", "look").asked(0)
    assert made(act(log)) == [log.call_id(1)]


def test_an_approved_call_is_made_and_its_finished_sibling_is_not() -> None:
    log = asking("look", "look").tool_began(1).tool_ended(1).asked(0).waiting("approval").answered("approve").resumed()
    assert made(act(log)) == [log.call_id(0)]


def test_an_approved_call_is_not_asked_about_again_when_its_worker_died() -> None:
    log = asking("look").asked().answered("approve").tool_began(0).taken()
    (state,) = _calls(act(log, later=60))
    assert state.approved
    assert state.started is not None


def test_what_an_approver_made_of_a_call_is_another_call() -> None:
    edited = {"call_id": f"{RUN_ID}-1-0e", "args": {"to": "me"}, "digest": "d2"}
    log = asking("look").asked().answered("edit", edited=edited)
    (state,) = _calls(act(log))
    assert state.call == ToolCall(f"{RUN_ID}-1-0e", "look", {"to": "me"})
    assert state.approved


def test_the_model_is_told_what_an_approver_changed() -> None:
    edited = {"call_id": f"{RUN_ID}-1-0e", "args": {"to": "me"}, "digest": "d2"}
    log = asking("look").asked().answered("edit", edited=edited)
    call = {"call_id": f"{RUN_ID}-1-0e", "name": "look"}
    log.add(EventType.TOOL_STARTED, {**call, "args": {"to": "me"}, "effect": "read", "deadline": NOON.isoformat()})
    log.add(EventType.TOOL_FINISHED, {**call, "ok": True, "content": "seen"})
    told = transcript.messages(RUN_ID, log.events, log.events[-1].seq)[-1]
    assert isinstance(told, ToolSaid)
    assert (told.call_id, told.ok) == (log.call_id(0), True)
    assert told.content == 'An approver changed the arguments of this call to {"to": "me"} before it was made.\nseen'
    assert act(log) == Think(2)


@pytest.mark.parametrize(
    ("question", "decision", "ok", "says"),
    [
        ("call", "deny", False, "A person denied this call."),
        ("outcome", "happened", True, "A person confirmed that this call had its effect."),
        ("outcome", "abort", False, "A person confirmed that this call had no effect."),
    ],
)
def test_an_answer_that_needs_no_work_is_written_down_as_the_outcome(
    question: str, decision: str, ok: bool, says: str
) -> None:
    log = asking("look")
    if question == "outcome":
        log.tool_began(0, effect="irreversible").tool_lost(0)
    ((was_ok, content),) = concluded(act(log.asked(question=question).answered(decision, note="no hurry")))
    assert was_ok is ok
    assert content.startswith(says)
    assert content.endswith("They say: no hurry")


def test_a_person_is_asked_about_an_unknown_outcome_and_nothing_is_made_meanwhile() -> None:
    log = asking("look").tool_began(0, effect="irreversible").tool_lost(0)
    assert act(log) == AskOutcome((ToolCall(log.call_id(0), "look", {}),))
    log.asked(question="outcome")
    assert act(log) == Await("approval", expiry(log))


def test_a_call_that_did_not_happen_is_made_again_when_a_person_says_so() -> None:
    log = asking("look").tool_began(0, effect="irreversible").tool_lost(0).asked(question="outcome").answered("retry")
    assert made(act(log)) == [log.call_id(0)]
    log.tool_began(0, effect="irreversible").tool_lost(0)
    assert isinstance(act(log), AskOutcome), "each making has an outcome of its own"


def test_an_outcome_that_nobody_could_tell_is_told_to_the_model_as_unknown() -> None:
    log = asking("look").tool_began(0, effect="irreversible").tool_lost(0).asked(question="outcome")
    assert act(log, later=3600) == Expire((log.events[-1],))
    assert act(log.answered("expired")) == Think(2)
    told = transcript.messages(RUN_ID, log.events, log.events[-1].seq)[-1]
    assert isinstance(told, ToolSaid)
    assert told.content == transcript.UNKNOWN_OUTCOME


def test_an_outcome_that_was_found_out_is_all_that_the_model_is_told() -> None:
    log = asking("look").tool_began(0, effect="irreversible").tool_lost(0)
    log.asked(question="outcome").answered("happened").tool_ended(0, content="it happened")
    tools = [said for said in transcript.messages(RUN_ID, log.events, 99) if isinstance(said, ToolSaid)]
    assert [said.content for said in tools] == ["it happened"]


def test_an_expired_question_denies_the_call_or_fails_the_run_as_its_agent_said() -> None:
    log = asking("look").asked()
    at = expiry(log)
    assert isinstance(next_act(RUN, log.events, at - timedelta(milliseconds=1)), Await)
    assert next_act(RUN, log.events, at) == Expire((log.events[-1],))
    ((ok, content),) = concluded(act(log.answered("expired")))
    assert not ok
    assert content.startswith("Nobody approved this call in time.")
    assert act(asking("look").asked(on_expiry="fail").answered("expired")) == Stop(
        "not_answered", "a question to a person was not answered in time"
    )


def test_a_call_that_is_answered_from_outside_is_waited_for_and_never_made_again() -> None:
    log = asking("look").tool_began(0, effect="irreversible", lasting=7200, answers="outside").taken()
    deadline = datetime.fromisoformat(log.events[-2].data["deadline"])
    assert act(log, later=60) == Await("tool", deadline)
    ((ok, content),) = concluded(next_act(RUN, log.events, deadline))
    assert (ok, content) == (False, "Nobody answered this call in time.")


def test_a_wait_ends_well_at_its_time() -> None:
    log = asking("wait").tool_began(0, lasting=7200, answers="time")
    deadline = datetime.fromisoformat(log.events[-1].data["deadline"])
    assert act(log) == Await("tool", deadline)
    ((ok, content),) = concluded(next_act(RUN, log.events, deadline))
    assert ok
    assert content == f"The wait is over. It is {deadline.isoformat(timespec='seconds')}."


def test_the_first_of_several_waits_to_end_wakes_the_run() -> None:
    log = asking("look", "look").tool_began(1, lasting=60, answers="outside")
    deadline = datetime.fromisoformat(log.events[-1].data["deadline"])
    assert act(log.asked(0)) == Await("approval", deadline)


def test_a_retry_that_its_worker_left_in_doubt_is_unknown_again() -> None:
    log = asking("look").tool_began(0, effect="irreversible").tool_lost(0).asked(question="outcome").answered("retry")
    log.tool_began(0, effect="irreversible").taken()
    step = steps.current(RUN_ID, log.events)
    assert step is not None
    assert step.calls[0].in_doubt


def _calls(act: Act) -> tuple[Any, ...]:
    assert isinstance(act, CallTools)
    return act.calls
