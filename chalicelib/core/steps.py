"""Where a run's work stands, folded from its log: the current step, its model call, its tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.core import ids
from chalicelib.core.cursor import following
from chalicelib.core.events import SETTLES_CALL, Event, EventType, Log
from chalicelib.core.reply import AskedCall, Reply, ToolCall, Usage
from chalicelib.core.tools import Effect


@dataclass(frozen=True, slots=True)
class CallState:
    """One tool call of a step: asked for, perhaps started, perhaps settled (finished, or its outcome unknown)."""

    call: ToolCall
    started: Event | None
    settled: Event | None

    @property
    def in_doubt(self) -> bool:
        """Started, and nobody knows how it ended."""
        return self.started is not None and self.settled is None

    @property
    def effect(self) -> Effect:
        """What the call may have done, as `tool.started` noted it."""
        return Effect(self.started.data["effect"]) if self.started else Effect.READ

    @property
    def deadline(self) -> datetime | None:
        """The time after which the call's own worker will not begin its effect any more."""
        return datetime.fromisoformat(self.started.data["deadline"]) if self.started else None


@dataclass(frozen=True, slots=True)
class Step:
    """A model call and the tool calls that it asked for.

    `began` is the seq of its `step.started`, `calls_made` the model calls begun for it so far, `wrote_from` the seq
    from which the text of the current one stands.
    """

    number: int
    began: int
    calls_made: int
    wrote_from: int
    reply: Reply | None
    calls: tuple[CallState, ...]


def current(run_id: str, log: Log) -> Step | None:
    """The last step that was started, as far as it came; None before the first."""
    began = _last_index(log, EventType.STEP_STARTED)
    if began is None:
        return None
    start, rest = log[began], log[began + 1 :]
    number = int(start.data["step"])
    replied = next((event for event in rest if event.type is EventType.MODEL_REPLIED), None)
    reply = reply_of(replied.data) if replied else None
    resets = [event for event in rest if event.type is EventType.STEP_RESET]
    return Step(
        number=number,
        began=start.seq,
        calls_made=1 + len(resets),
        wrote_from=following(resets[-1].seq if resets else start.seq),
        reply=reply,
        calls=_calls(run_id, number, reply, rest),
    )


def _calls(run_id: str, step: int, reply: Reply | None, rest: Log) -> tuple[CallState, ...]:
    started: dict[str, Event] = {}
    settled: dict[str, Event] = {}
    for event in rest:
        if event.type is EventType.TOOL_STARTED:
            started[event.data["call_id"]] = event
        elif event.type in SETTLES_CALL:
            settled[event.data["call_id"]] = event
    asked = tool_calls(run_id, step, reply) if reply else ()
    return tuple(CallState(call, started.get(call.call_id), settled.get(call.call_id)) for call in asked)


def tool_calls(run_id: str, step: int, reply: Reply) -> tuple[ToolCall, ...]:
    """The calls that a reply asks for, each under its id (run, step, index)."""
    return tuple(
        ToolCall(ids.call_id(run_id, step, index), asked.name, asked.args, asked.malformed)
        for index, asked in enumerate(reply.calls)
    )


def reply_data(step: int, reply: Reply, *, partial: bool = False) -> dict[str, Any]:
    """A reply as the data of `model.replied`. `partial`: the call was broken off, and this is what had come."""
    calls = [
        {"name": call.name, "args": dict(call.args), **({"malformed": call.malformed} if call.malformed else {})}
        for call in reply.calls
    ]
    usage = {
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
        "estimated": reply.usage.estimated,
    }
    told = {"step": step, "text": reply.text, "tool_calls": calls, "usage": usage, "stop": reply.stop}
    return {**told, "partial": True} if partial else told


def reply_of(data: Mapping[str, Any]) -> Reply:
    """The other way round."""
    usage = Usage(**data["usage"])
    calls = tuple(AskedCall(call["name"], call["args"], call.get("malformed")) for call in data["tool_calls"])
    return Reply(data["text"], calls, usage, data["stop"])


def _last_index(log: Log, type: EventType) -> int | None:
    return next((index for index in range(len(log) - 1, -1, -1) if log[index].type is type), None)
