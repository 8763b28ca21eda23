"""Make the tool calls of a step, side by side, each with its own outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from queue import SimpleQueue

from chalicelib.core.approvals import Question
from chalicelib.core.calls import finished
from chalicelib.core.errors import LeaseLost
from chalicelib.core.events import EventType
from chalicelib.core.moments import spelled
from chalicelib.core.permissions import Ruling
from chalicelib.core.reply import ToolCall
from chalicelib.core.steps import CallState
from chalicelib.core.tools import Answers, Effect, ToolResult
from chalicelib.core.waits import ends_at
from chalicelib.usecases import late
from chalicelib.usecases.gate import Gate
from chalicelib.usecases.hold import Hold, Overtaken

GRACE_AFTER_CANCEL = timedelta(seconds=2)
"""How long a cancelled run waits for the calls that it has begun; what is not back by then has an unknown outcome."""


@dataclass(frozen=True, slots=True)
class _Begun:
    call: ToolCall
    effect: Effect
    deadline: datetime


Heard = tuple[_Begun, ToolResult]


@dataclass(slots=True)
class _Results:
    """Where calls leave their results, from any thread. Those that nobody takes any more are late."""

    hold: Hold
    inbox: SimpleQueue[Heard] = field(default_factory=SimpleQueue)
    _over: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def put(self, one: _Begun, result: ToolResult) -> None:
        with self._turn:
            if not self._over:
                self.inbox.put((one, result))
                return
        late.tool_call(self.hold.run, one.call, result)

    def close(self) -> None:
        with self._turn:
            self._over = True
        while not self.inbox.empty():
            one, result = self.inbox.get()
            late.tool_call(self.hold.run, one.call, result)


def call_tools(calls: tuple[CallState, ...], hold: Hold, until: datetime, *, gate: Gate) -> None:
    """Begin the calls that may be made and write down how each ended. `until` is when this worker's time is up.

    A call that is denied has its outcome at once, one that must be asked about has its question. If something comes
    into the log between two of them, those that were begun are made, and the others are left to the next decision.
    """
    begun: dict[str, _Begun] = {}
    try:
        for state in calls:
            if one := _let_through(state, hold, until, gate):
                begun[one.call.call_id] = one
    except Overtaken:
        if not begun:
            raise
    _make(begun, hold, gate)


def _make(begun: dict[str, _Begun], hold: Hold, gate: Gate) -> None:
    results = _Results(hold)
    stop = threading.Event()
    try:
        for one in begun.values():
            hold.crew.begin(_work(one, hold, results, gate, stop))
        _collect(begun, hold, results, stop)
    finally:
        stop.set()
        results.close()


def _let_through(state: CallState, hold: Hold, until: datetime, gate: Gate) -> _Begun | None:
    """The call, once it is begun and this worker's to make."""
    if state.started is not None:
        return _begin(state.call, state.rule, hold, until, gate)
    judgement = gate.judge(state.call, hold.log)
    match judgement.ruling:
        case Ruling.ALLOW:
            return _begin(state.call, judgement.rule, hold, until, gate)
        case Ruling.ASK if state.approved:
            # A person may take time, and rules change meanwhile: what they have said is an answer, not a right.
            return _begin(state.call, judgement.rule, hold, until, gate)
        case Ruling.ASK:
            gate.ask(state.call, Question.CALL, judgement.rule, hold)
        case Ruling.DENY:
            refused = finished(state.call, ToolResult(ok=False, content=judgement.rule))
            hold.begin(EventType.TOOL_FINISHED, {**refused, "refused": True})
    return None


def _begin(call: ToolCall, rule: str, hold: Hold, until: datetime, gate: Gate) -> _Begun | None:
    spec = gate.spec(call)
    now = hold.clock.now()
    deadline = ends_at(spec, call.args, now) if spec.answers is not Answers.TOOL else min(now + spec.lasting, until)
    hold.begin(
        EventType.TOOL_STARTED,
        {
            "call_id": call.call_id,
            "name": call.name,
            "args": dict(call.args),
            "effect": spec.effect,
            "deadline": spelled(deadline),
            "answers": spec.answers,
            "rule": rule,
            "marks": sorted(spec.marks),
        },
    )
    return _Begun(call, spec.effect, deadline) if spec.answers is Answers.TOOL else None


def _work(one: _Begun, hold: Hold, results: _Results, gate: Gate, stop: threading.Event) -> Callable[[], None]:
    invocation = gate.invocation(one.call, one.deadline, stop, hold)

    def work() -> None:
        # Right before the effect, on one's own clock: a process that was stopped for a while must not wake up and act.
        if hold.clock.now() >= one.deadline or not hold.counts:
            results.put(one, ToolResult(ok=False, content="Not made: its time was up before it could begin."))
        else:
            results.put(one, gate.toolbox.call(invocation))

    return work


def _collect(begun: dict[str, _Begun], hold: Hold, results: _Results, stop: threading.Event) -> None:
    waiting = dict(begun)
    give_up_at: datetime | None = None
    while waiting:
        if hold.cancelling and give_up_at is None:
            give_up_at = hold.clock.now() + GRACE_AFTER_CANCEL
            stop.set()
        until = min(one.deadline for one in waiting.values())
        heard = hold.attend(results.inbox, min(until, give_up_at) if give_up_at else until)
        if heard is not None:
            _take(heard, waiting, hold, results)
        now = hold.clock.now()
        for one in [one for one in waiting.values() if now >= min(one.deadline, give_up_at or one.deadline)]:
            del waiting[one.call.call_id]
            _tell_lost(one, hold)


def _take(heard: Heard, waiting: dict[str, _Begun], hold: Hold, results: _Results) -> None:
    """Write down how a call ended, unless it has been given up."""
    one, result = heard
    if waiting.pop(one.call.call_id, None) is None:
        late.tool_call(hold.run, one.call, result)
        return
    try:
        _tell(one, result, hold)
    except LeaseLost:
        results.put(one, result)
        raise


def _tell(one: _Begun, result: ToolResult, hold: Hold) -> None:
    """An unknown outcome of a call that bears repeating is a failure: the model may ask for it again."""
    if result.unknown and not one.effect.repeatable:
        _tell_unknown(one, hold, result.content)
    else:
        hold.tell(EventType.TOOL_FINISHED, finished(one.call, result))


def _tell_lost(one: _Begun, hold: Hold) -> None:
    """A call that did not come back in time: only a repeatable one may be called a failure, the other may have
    happened."""
    if one.effect.repeatable and not hold.cancelling:
        _tell(one, ToolResult(ok=False, content="The call did not come back within its time."), hold)
    else:
        _tell_unknown(one, hold, "The call did not come back within its time.")


def _tell_unknown(one: _Begun, hold: Hold, detail: str) -> None:
    hold.tell(EventType.TOOL_UNKNOWN, {"call_id": one.call.call_id, "name": one.call.name, "detail": detail})
