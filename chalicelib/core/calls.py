"""What is next for the calls of a step that are not settled yet."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from chalicelib.core import approvals
from chalicelib.core.acts import Act, AskOutcome, Await, CallTools, Conclude, Expire, GiveUpCalls, Pause, Stop
from chalicelib.core.agent import Expiry
from chalicelib.core.approvals import Decision
from chalicelib.core.events import Event, EventType
from chalicelib.core.reply import ToolCall
from chalicelib.core.steps import CallState, Step
from chalicelib.core.tools import Answers, ToolResult

MARGIN = timedelta(seconds=5)
"""How far the clocks of two workers may lie apart: a call in doubt is left alone until its deadline and this have
passed."""


def told(act: GiveUpCalls | Conclude) -> tuple[tuple[EventType, dict[str, Any]], ...]:
    """The events that such an act writes down, in order."""
    if isinstance(act, GiveUpCalls):
        return tuple((EventType.TOOL_UNKNOWN, {"call_id": call.call_id, "name": call.name}) for call in act.calls)
    return tuple((EventType.TOOL_FINISHED, finished(call, result)) for call, result in act.outcomes)


def finished(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """A result as the data of `tool.finished`."""
    data = {"call_id": call.call_id, "name": call.name, "ok": result.ok, "content": result.content}
    files = {"files": [asdict(file) for file in result.files]} if result.files else {}
    marks = {"marks": sorted(result.marks)} if result.marks else {}
    return {**data, **files, **marks}


def next_act(step: Step, now: datetime) -> Act:
    """The one thing to do next. Calls in doubt come first: they wait for their deadline, and the others with them."""
    states = [state for state in step.calls if state.settled is None]
    return _in_doubt(states, now) or _without_work(step, states, now) or _with_work(step, states) or _await(states)


def _in_doubt(states: list[CallState], now: datetime) -> Act | None:
    """They come from a dead worker, whose clock may lag."""
    in_doubt = [state for state in states if state.in_doubt]
    if (until := _safe_from(in_doubt)) is not None and now < until:
        return Pause(until)
    lost = tuple(state.call for state in in_doubt if not state.effect.repeatable)
    return GiveUpCalls(lost) if lost else None


def _safe_from(in_doubt: list[CallState]) -> datetime | None:
    return max((state.deadline + MARGIN for state in in_doubt if state.deadline), default=None)


def _without_work(step: Step, states: list[CallState], now: datetime) -> Act | None:
    """What can be written down about calls that nobody makes."""
    late = tuple(state.asked for state in states if state.open and state.asked and approvals.expired(state.asked, now))
    if late:
        return Expire(late)
    if any(_unanswered_for_good(state.answered) for state in step.calls):
        return Stop("not_answered", "a question to a person was not answered in time")
    outcomes = tuple((state.call, outcome) for state in states if (outcome := _outcome(state, now)))
    return Conclude(outcomes) if outcomes else None


def _unanswered_for_good(answered: Event | None) -> bool:
    return (
        answered is not None
        and answered.data["decision"] == Decision.EXPIRED
        and (answered.data["on_expiry"] == Expiry.FAIL)
    )


def _outcome(state: CallState, now: datetime) -> ToolResult | None:
    """What becomes of a call by an answer, or by the time, alone."""
    if state.awaited and state.deadline and now >= state.deadline:
        return _timed_out(state, now)
    if state.decision is None or state.answered is None:
        return None
    return _answered(state.decision, state.answered.data.get("note"))


def _timed_out(state: CallState, now: datetime) -> ToolResult:
    if state.answers is Answers.TIME:
        return ToolResult(ok=True, content=f"The wait is over. It is {now.isoformat(timespec='seconds')}.")
    return ToolResult(ok=False, content="Nobody answered this call in time.")


_SAID = {
    Decision.DENY: (False, "A person denied this call. Do not make it again unless you are asked to."),
    Decision.EXPIRED: (False, "Nobody approved this call in time. It was not made."),
    Decision.HAPPENED: (True, "A person confirmed that this call had its effect."),
    Decision.ABORT: (False, "A person confirmed that this call had no effect. It is not made again."),
}


def _answered(decision: Decision, note: str | None) -> ToolResult | None:
    if decision not in _SAID:
        return None
    ok, content = _SAID[decision]
    return ToolResult(ok, f"{content} They say: {note}" if note else content)


def _with_work(step: Step, states: list[CallState]) -> Act | None:
    unasked = tuple(state.call for state in states if state.unknown and state.asked is None)
    if unasked:
        return AskOutcome(unasked)
    ready = tuple(state for state in states if not state.open and not state.awaited)
    return CallTools(step.number, ready) if ready else None


def _await(states: list[CallState]) -> Act:
    """Everything left is in somebody else's hands."""
    asked = [datetime.fromisoformat(state.asked.data["expires_at"]) for state in states if state.open and state.asked]
    awaited = [state.deadline for state in states if state.awaited and state.deadline]
    return Await("approval" if asked else "tool", min(asked + awaited))
