"""How a rule is taken out of the shipped code, for one search."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.core import answer, approvals, calls, lease, steps, transcript, transitions
from chalicelib.core.acts import CallTools, Think
from chalicelib.core.change import NOBODY_MOVED_IT, Change
from chalicelib.core.events import Event, EventType, Log, Stamp
from chalicelib.core.fence import Verdict, judge
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.transitions import Edge
from chalicelib.usecases import advance, await_answer, call_tools, hold, sweep, think, work
from tests.model import puppet, roles, say

Patch = pytest.MonkeyPatch


def begin_as_tell(patch: Patch) -> None:
    patch.setattr(hold.Hold, "begin", hold.Hold.tell)


def overlook(verdict: Verdict) -> Callable[[Patch], None]:
    def overlooking(*args: Any) -> Verdict:
        judged = judge(*args)
        return Verdict.NEWS if judged is verdict else judged

    return lambda patch: patch.setattr(hold, "judge", overlooking)


def token_read_first(patch: Patch) -> None:
    written, read = say.write, {}

    def write(text: str, run: Run, *args: Any) -> None:
        read["token"] = run.token
        written(text, run, *args)

    def wake(run_id: str, runs: Any, workflow: Any) -> None:
        if read["token"] is not None:
            workflow.wake(read["token"])

    patch.setattr(say, "write", write)
    patch.setattr(say, "wake", wake)


def any_start(patch: Patch) -> None:
    def advance_any(run_id: str, start: int, lap: int, slice: Any, *, needs: Any) -> Any:
        run, _ = needs.runs.tail(run_id)
        return advance.advance(run_id, run.start, lap, slice, needs=needs)

    patch.setattr(roles, "advance", advance_any)


def start_uncounted(patch: Patch) -> None:
    def restart(run: Run, *, runs: Any, workflow: Any, clock: Any) -> bool:
        workflow.start(run.run_id, run.start)
        return True

    patch.setattr(sweep, "restart", restart)


def effect_first(patch: Patch) -> None:
    def make(calls: Any, held: hold.Hold, until: Any, *, gate: Any) -> None:
        for state in calls:
            call = state.call
            begun = call_tools._Begun(call, gate.spec(call).effect, until)
            result = gate.toolbox.call(gate.invocation(call, until, threading.Event(), held))
            call_tools._begin(call, "", held, until, gate)
            call_tools._tell(begun, result, held)

    patch.setattr(work, "call_tools", make)


def no_look_before_the_effect(patch: Patch) -> None:
    def work(one: Any, held: hold.Hold, results: Any, gate: Any, stop: Any) -> Callable[[], None]:
        def work() -> None:
            results.put(one, gate.toolbox.call(gate.invocation(one.call, one.deadline, stop, held)))

        return work

    patch.setattr(call_tools, "_work", work)


def decide_again(patch: Patch) -> None:
    find = approvals.find
    patch.setattr(approvals, "find", lambda log, approval_id: (find(log, approval_id)[0], None))


def questions_outlive(patch: Patch) -> None:
    consequences = transitions._consequences

    def but_questions(run: Run, to: Status, stamp: Stamp) -> dict[str, Any]:
        return {name: value for name, value in consequences(run, to, stamp).items() if name != "asks"}

    patch.setattr(transitions, "_consequences", but_questions)


def retry_unasked(patch: Patch) -> None:
    """What nobody knows the outcome of is simply made again."""

    def ready(step: Any, states: list[Any]) -> Any:
        return CallTools(step.number, tuple(states))

    patch.setattr(calls, "_with_work", ready)


def reset_unwritten(patch: Patch) -> None:
    begins = think._begin

    def begin(act: Any, held: hold.Hold) -> Any:
        if isinstance(act, Think):
            return begins(act, held)
        return steps.current(held.run.run_id, held.log)

    patch.setattr(think, "_begin", begin)


def shown_all(patch: Patch) -> None:
    told = transcript.messages
    patch.setattr(transcript, "messages", lambda run_id, log, until: told(run_id, log, 10**9))


def owed_by_itself(patch: Patch) -> None:
    commits = puppet.Ports.commit

    def commit(ports: puppet.Ports, change: Change) -> None:
        if change.owed is not None:
            ports.append(change.before, change.owed)
        commits(ports, replace(change, owed=None))

    patch.setattr(puppet.Ports, "commit", commit)


def same_attempt(patch: Patch) -> None:
    takes = lease.take

    def take(run: Run, *, tail: int, now: Any, write_id: str) -> Change:
        change = takes(run, tail=tail, now=now, write_id=write_id)
        if run.attempt == 0 or run.lease_until is not None:
            return change
        event = replace(change.event, attempt=run.attempt, data={**change.event.data, "attempt": run.attempt})
        return replace(change, after=replace(change.after, attempt=run.attempt), event=event)

    patch.setattr(lease, "take", take)


def cancelled_at_once(patch: Patch) -> None:
    edges = dict(transitions.TRANSITIONS)
    for status in (Status.RUNNING, Status.STREAMING):
        edges[status] = {**edges[status], Trigger.CANCEL: Edge(Status.CANCELLED, EventType.RUN_CANCELLED)}
    patch.setattr(transitions, "TRANSITIONS", edges)


def answer_not_due(patch: Patch) -> None:
    answers = answer.answer

    def not_due(run: Run, type: EventType, data: Any, *, tail: int, stamp: Stamp) -> Change:
        change = answers(run, type, data, tail=tail, stamp=stamp)
        return replace(change, after=replace(change.after, due_at=None))

    patch.setattr(answer, "answer", not_due)


def handed_back_not_due(patch: Patch) -> None:
    patch.setattr(lease, "handed_back", lambda run, now: replace(run, lease_until=None, due_at=None))


def counted_unread(patch: Patch) -> None:
    """A collision makes the writer count on, past an event that it does not look at."""

    def take_in(held: hold.Hold, found: Event) -> None:
        held.log.append(replace(found, type=EventType.TOOL_PROGRESS, data={}))

    patch.setattr(hold.Hold, "_take_in", take_in)


def unguarded(module: Any, guards: tuple[str, ...] = NOBODY_MOVED_IT, name: str = "NOBODY_HOLDS_IT") -> Any:
    return lambda patch: patch.setattr(module, name, guards)


def broken(events: Iterable[Event], since: int) -> list[Event]:
    """Whatever a read has met after the cursor, holes or not."""
    return [event for event in events if event.seq > since]


def told_alone(held: hold.Hold, data: Any) -> None:
    """The first piece of text like any other."""
    held.tell(EventType.TEXT_DELTA, data)


def await_without_waking(patch: Patch) -> None:
    class Silent(puppet.Ports):
        def wake(self, token: str) -> None:
            """Nobody is woken."""

    def await_answer_only(run_id: str, start: int, token: str, *, runs: Any, workflow: Any) -> None:
        silent = copy(workflow)
        silent.__class__ = Silent
        await_answer.await_answer(run_id, start, token, runs=runs, workflow=silent)

    patch.setattr(roles, "await_answer", await_answer_only)


def nothing(*args: Any, **named: Any) -> None:
    return None


def no(*args: Any, **named: Any) -> bool:
    return False


def unheld(run: Run, now: Any) -> bool:
    return run.status in (Status.PENDING, Status.RUNNING, Status.STREAMING)


def none_unsettled(log: Log) -> list[str]:
    return []
