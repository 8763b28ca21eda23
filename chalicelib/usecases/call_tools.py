"""Make the tool calls of a step, side by side, each with its own outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import SimpleQueue

from chalicelib.core.events import EventType
from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Effect, Invocation, ToolResult
from chalicelib.ports.toolbox import Toolbox
from chalicelib.usecases.hold import Hold, Overtaken

GRACE_AFTER_CANCEL = timedelta(seconds=2)
"""How long a cancelled run waits for the calls that it has begun; what is not back by then has an unknown outcome."""

TO_REFUSE_A_TOOL = 30.0
"""Seconds for the answer to a call of a tool that is not there."""


@dataclass(frozen=True, slots=True)
class _Begun:
    call: ToolCall
    effect: Effect
    deadline: datetime


Heard = tuple[_Begun, ToolResult]


def call_tools(calls: tuple[ToolCall, ...], hold: Hold, until: datetime, *, toolbox: Toolbox) -> None:
    """Begin the calls and write down how each ended. `until` is when this worker's time is up.

    If something comes into the log between two of them, those that were begun are made, and the others are left to the
    next decision.
    """
    inbox: SimpleQueue[Heard] = SimpleQueue()
    stop = threading.Event()
    begun: dict[str, _Begun] = {}
    try:
        for call in calls:
            begun[call.call_id] = _begin(call, hold, until, toolbox)
    except Overtaken:
        if not begun:
            raise
    try:
        for one in begun.values():
            hold.crew.begin(_work(one, hold, inbox, toolbox, stop))
        _collect(begun, hold, inbox, stop)
    finally:
        stop.set()


def _begin(call: ToolCall, hold: Hold, until: datetime, toolbox: Toolbox) -> _Begun:
    spec = toolbox.spec(call.name)
    effect, timeout = (spec.effect, spec.timeout) if spec else (Effect.READ, TO_REFUSE_A_TOOL)
    deadline = min(hold.clock.now() + timedelta(seconds=timeout), until)
    hold.begin(
        EventType.TOOL_STARTED,
        {
            "call_id": call.call_id,
            "name": call.name,
            "args": dict(call.args),
            "effect": effect,
            "deadline": deadline.isoformat(),
        },
    )
    return _Begun(call, effect, deadline)


def _work(
    one: _Begun, hold: Hold, inbox: SimpleQueue[Heard], toolbox: Toolbox, stop: threading.Event
) -> Callable[[], None]:
    def work() -> None:
        # Right before the effect, on one's own clock: a process that was stopped for a while must not wake up and act.
        if hold.clock.now() >= one.deadline or not hold.counts:
            inbox.put((one, ToolResult(ok=False, content="Not made: its time was up before it could begin.")))
        else:
            inbox.put((one, _made(one, hold, toolbox, stop)))

    return work


def _made(one: _Begun, hold: Hold, toolbox: Toolbox, stop: threading.Event) -> ToolResult:
    if (problem := toolbox.problem(one.call)) is not None:
        return ToolResult(ok=False, content=problem)
    run = hold.run
    return toolbox.call(
        Invocation(run.run_id, run.account_id, one.call, one.deadline, stop, permits=lambda fields: True)
    )


def _collect(begun: dict[str, _Begun], hold: Hold, inbox: SimpleQueue[Heard], stop: threading.Event) -> None:
    waiting = dict(begun)
    give_up_at: datetime | None = None
    while waiting:
        if hold.cancelling and give_up_at is None:
            give_up_at = hold.clock.now() + GRACE_AFTER_CANCEL
            stop.set()
        until = min(one.deadline for one in waiting.values())
        heard = hold.attend(inbox, min(until, give_up_at) if give_up_at else until)
        if heard is not None:
            one, result = heard
            if waiting.pop(one.call.call_id, None):
                _tell(one, result, hold)
        now = hold.clock.now()
        for one in [one for one in waiting.values() if now >= min(one.deadline, give_up_at or one.deadline)]:
            del waiting[one.call.call_id]
            _tell_lost(one, hold)


def _tell(one: _Begun, result: ToolResult, hold: Hold) -> None:
    data = {"call_id": one.call.call_id, "name": one.call.name, "ok": result.ok, "content": result.content}
    hold.tell(EventType.TOOL_FINISHED, data)


def _tell_lost(one: _Begun, hold: Hold) -> None:
    """A call that did not come back in time: only a repeatable one may be called a failure, the other may have
    happened."""
    if one.effect.repeatable and not hold.cancelling:
        _tell(one, ToolResult(ok=False, content="The call did not come back within its time."), hold)
    else:
        hold.tell(EventType.TOOL_UNKNOWN, {"call_id": one.call.call_id, "name": one.call.name})
