"""Bring the result of a call that somebody outside answers."""

from __future__ import annotations

from chalicelib.core import steps
from chalicelib.core.answer import answer
from chalicelib.core.calls import finished
from chalicelib.core.change import Change, record
from chalicelib.core.errors import Conflict, InvalidInput, NotFound
from chalicelib.core.events import Event, EventType, Log, Stamp
from chalicelib.core.moments import spelled
from chalicelib.core.run import Run, Status
from chalicelib.core.steps import CallState
from chalicelib.core.tools import Answers, ToolResult
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.put_answer import put_answer

MAX_CONTENT_BYTES = 64 * 1024


def answer_call(
    run_id: str,
    call_id: str,
    result: ToolResult,
    *,
    account_id: str,
    actor: str,
    runs: RunStore,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> Event:
    """The `tool.finished` that stands: the first result's. The same again is no fault, another one is.

    Raises `NotFound`, `InvalidInput` and `Conflict`.
    """
    if (size := len(result.content.encode())) > MAX_CONTENT_BYTES:
        expected = f"at most {MAX_CONTENT_BYTES} bytes of UTF-8"
        raise InvalidInput("text_too_long", f"it has {size} bytes", field="content", expected=expected)

    def decide(run: Run, log: Log, stamp: Stamp) -> Change | Event:
        state = _find(run_id, call_id, log)
        if state.finished is not None:
            return _the_same(result, state, state.finished)
        _check_awaited(run, state, stamp)
        data = {**finished(state.call, result), "by": actor}
        if run.status is Status.WAITING:
            return answer(run, EventType.TOOL_FINISHED, data, tail=log[-1].seq, stamp=stamp)
        return Change(run, run, record(EventType.TOOL_FINISHED, data, tail=log[-1].seq, stamp=stamp))

    return put_answer(run_id, decide, account_id=account_id, runs=runs, workflow=workflow, clock=clock, chance=chance)


def _find(run_id: str, call_id: str, log: Log) -> CallState:
    """The call in whatever step it was asked for: a sender whose answer was lost comes again later."""
    states = (state for step, _ in steps.every(run_id, log) for state in step.calls)
    found = next((state for state in states if state.call.call_id == call_id), None)
    if found is None:
        raise NotFound("call_not_found", "the run has no such call")
    return found


def _check_awaited(run: Run, state: CallState, stamp: Stamp) -> None:
    if run.status.terminal or run.status is Status.CANCELLING:
        raise Conflict("run_over", f"the run is {run.status}, and awaits nothing any more")
    if not state.awaited or state.answers is not Answers.OUTSIDE:
        raise Conflict("call_not_awaited", "nobody outside is to answer this call")
    if state.deadline is not None and stamp.at >= state.deadline:
        raise Conflict("call_expired", f"the call could be answered until {spelled(state.deadline)}")


def _the_same(result: ToolResult, state: CallState, standing: Event) -> Event:
    if "by" not in standing.data and state.answers is Answers.OUTSIDE:
        raise Conflict("call_expired", "nobody answered the call in time, and the run has gone on")
    if (standing.data["ok"], standing.data["content"]) == (result.ok, result.content):
        return standing
    raise Conflict("call_settled", "the call has another result already")
