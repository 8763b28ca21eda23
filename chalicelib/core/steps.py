"""Where a run's work stands, folded from its log: the current step, its model call, its tool calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from chalicelib.core import ids
from chalicelib.core.approvals import Decision
from chalicelib.core.cursor import following
from chalicelib.core.events import Event, EventType, Log
from chalicelib.core.reply import AskedCall, Reply, ToolCall, Usage
from chalicelib.core.tools import Answers, Effect


@dataclass(frozen=True, slots=True)
class CallState:
    """One tool call of a step, as far as it came.

    `call` is what would be made: the model's, or what an approver made of it. `asked` and `answered` are the last
    question about it and its answer, `started`, `unknown` and `finished` what became of its last making.
    """

    call: ToolCall
    asked: Event | None = None
    answered: Event | None = None
    approved: bool = False
    started: Event | None = None
    unknown: Event | None = None
    finished: Event | None = None

    @property
    def settled(self) -> Event | None:
        """What the model is told of it; None while more may come. An outcome that nobody could tell stays unknown."""
        nobody_knows = self.unknown is not None and self.decision is Decision.EXPIRED
        return self.unknown if nobody_knows else self.finished

    @property
    def decision(self) -> Decision | None:
        return Decision(self.answered.data["decision"]) if self.answered else None

    @property
    def rule(self) -> str:
        """The rules that it was let through by, a line each: they count it."""
        return str(self.started.data.get("rule", "")) if self.started else ""

    @property
    def open(self) -> bool:
        """Whether a person is being asked about it."""
        return self.asked is not None and self.answered is None

    @property
    def awaited(self) -> bool:
        """Whether it was begun, and somebody outside ends it, or the time."""
        return self._under_way and self.answers is not Answers.TOOL

    @property
    def in_doubt(self) -> bool:
        """Whether a worker began it and nobody knows how it ended."""
        return self._under_way and self.answers is Answers.TOOL

    @property
    def _under_way(self) -> bool:
        return self.started is not None and self.finished is None and self.unknown is None

    @property
    def answers(self) -> Answers:
        """Who ends it, as `tool.started` noted it."""
        return Answers(self.started.data.get("answers", Answers.TOOL)) if self.started else Answers.TOOL

    @property
    def effect(self) -> Effect:
        """What the call may have done, as `tool.started` noted it."""
        return Effect(self.started.data["effect"]) if self.started else Effect.READ

    @property
    def deadline(self) -> datetime | None:
        """The time after which the call's own worker will not begin its effect any more."""
        return datetime.fromisoformat(self.started.data["deadline"]) if self.started else None

    def after(self, event: Event) -> CallState:
        """The call once the log goes on with an event about it."""
        match event.type:
            case EventType.APPROVAL_REQUESTED:
                return replace(self, asked=event, answered=None)
            case EventType.APPROVAL_RESOLVED:
                return self._after_answer(event)
            case EventType.TOOL_STARTED:
                return CallState(self.call, approved=self.approved, started=event)
            case EventType.TOOL_UNKNOWN:
                return replace(self, unknown=event, asked=None, answered=None)
            case EventType.TOOL_FINISHED:
                return replace(self, finished=event)
        return self

    def _after_answer(self, event: Event) -> CallState:
        answered = replace(self, answered=event)
        if answered.decision is Decision.EDIT:
            edited = event.data["edited"]
            return replace(answered, call=ToolCall(edited["call_id"], self.call.name, edited["args"]), approved=True)
        return replace(answered, approved=self.approved or answered.decision is Decision.APPROVE)


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


def every(run_id: str, log: Log) -> Iterator[tuple[Step, Log]]:
    """Every step of the log, and the part of the log that is its: a step begins only after the one before it is
    settled."""
    begun = [index for index, event in enumerate(log) if event.type is EventType.STEP_STARTED]
    for this, following_one in pairwise([*begun, len(log)]):
        part = log[this:following_one]
        step = current(run_id, part)
        assert step is not None, "the part begins with step.started"
        yield step, part


def _calls(run_id: str, step: int, reply: Reply | None, rest: Log) -> tuple[CallState, ...]:
    asked = tool_calls(run_id, step, reply) if reply else ()
    states = {call.call_id: CallState(call) for call in asked}
    for event in rest:
        call_id = ids.asked_call_id(event.data.get("call_id", ""))
        if call_id in states:
            states[call_id] = states[call_id].after(event)
    return tuple(states.values())


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
