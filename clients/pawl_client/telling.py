"""What a log reads like: events folded into what to say, what to note and what is going on. No terminal here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from pawl_client import questions
from pawl_client.shortly import short
from pawl_client.wire import SNAPSHOT, Event


class Tone(StrEnum):
    """How a note is meant."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the agent."""

    text: str


@dataclass(frozen=True, slots=True)
class Void:
    """The words of the open step are void: their model call broke off and is made again."""


@dataclass(frozen=True, slots=True)
class Stands:
    """The words of the open step stand: nothing takes them back any more."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something to know beside the words."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Doing:
    """What goes on until the next event."""

    text: str


Piece = Said | Void | Stands | Noted | Doing


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a run after the events told so far. `status` is that of the last event that changed it."""

    run_id: str = ""
    status: str = "pending"
    accepted_at: str | None = None
    speaking: bool = False
    steps: int = 0
    tokens: int = 0


Telling = tuple[Told, tuple[Piece, ...]]


def tell(told: Told, event: Event) -> Telling:
    """Take in one event. A type that is not known here says nothing: servers are newer than their clients."""
    teller = _TELLERS.get(event.type)
    return teller(told, event) if teller else (told, ())


def _accepted(told: Told, event: Event) -> Telling:
    return replace(told, accepted_at=event.at), (Doing("pending"),)


def _started(told: Told, _event: Event) -> Telling:
    return replace(told, status="running"), (Doing("running"),)


def _taken_over(told: Told, event: Event) -> Telling:
    reason = event.data.get("reason")
    note = Noted(f"a new worker goes on (attempt {event.data.get('attempt')}{f', {reason}' if reason else ''})")
    return replace(told, status="running"), (note, Doing("running"))


def _waiting(told: Told, event: Event) -> Telling:
    waiting = f"waiting for {event.data.get('for')}"
    detail = event.data.get("detail")
    note = Noted(f"{waiting}: {short(detail)}" if detail else waiting, Tone.WARNING)
    return replace(told, status="waiting"), (note, Doing(waiting))


def _resumed(told: Told, _event: Event) -> Telling:
    return replace(told, status="running"), (Noted("goes on"), Doing("running"))


def _step(told: Told, event: Event) -> Telling:
    return replace(told, steps=told.steps + 1, speaking=False), (Doing(f"thinking (step {event.data.get('step')})"),)


def _delta(told: Told, event: Event) -> Telling:
    return replace(told, status="streaming", speaking=True), (Said(event.data.get("text", "")),)


def _reset(told: Told, _event: Event) -> Telling:
    void = (Void(), Noted("that try broke off, its text is void; once more:", Tone.WARNING)) if told.speaking else ()
    return replace(told, speaking=False), (*void, Doing("trying again"))


def _replied(told: Told, event: Event) -> Telling:
    # A reply that was not streamed, or whose deltas lie before the cursor, has been seen by nobody yet.
    text = event.data.get("text")
    unseen = () if told.speaking or not text else (Said(text) if isinstance(text, str) else Noted(short(text)),)
    usage = event.data.get("usage") or {}
    tokens = told.tokens + usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
    return replace(told, speaking=False, tokens=tokens), (*unseen, Stands())


def _asked(told: Told, event: Event) -> Telling:
    return told, (*_question(told, event.data), Doing("waiting for an answer"))


def _question(told: Told, asked: Mapping[str, Any]) -> Iterator[Piece]:
    yield Noted(f"? {questions.head(asked)}", Tone.WARNING)
    yield from (Noted(f"  {line}") for line in questions.lines(asked))
    yield Noted(f"  to answer: {questions.commands(told.run_id, asked)}")


def _resolved(told: Told, event: Event) -> Telling:
    tone = Tone.GOOD if event.data["decision"] in ("approve", "edit", "happened") else Tone.WARNING
    return told, (Noted(f"  {questions.decided(event.data)}", tone), Doing("running"))


_AT_WORK = {"outside": "{} is answered from outside", "time": "{} waits for its time"}


def _tool_started(told: Told, event: Event) -> Telling:
    note = Noted(f"→ {_tool(event)} {short(event.data.get('args', ''))}".rstrip())
    doing = _AT_WORK.get(event.data.get("answers", ""), "{} is at work")
    return told, (note, Doing(doing.format(_tool(event))))


def _tool_progress(told: Told, event: Event) -> Telling:
    return told, (Doing(f"{_tool(event)}: {short(event.data.get('text', ''))}"),)


def _tool_finished(told: Told, event: Event) -> Telling:
    ok = event.data.get("ok", True)
    sign, tone = ("✓", Tone.GOOD) if ok else ("✗", Tone.BAD)
    refused = " was refused:" if event.data.get("refused") else ""
    note = f"{sign} {_tool(event)}{refused} {short(event.data.get('content', ''))}".rstrip()
    return told, (Noted(note, tone), Doing("running"))


def _tool_unknown(told: Told, event: Event) -> Telling:
    detail = f": {short(event.data['detail'])}" if event.data.get("detail") else ""
    note = f"? {_tool(event)} was started, and nobody knows how it ended{detail}"
    return told, (Noted(note, Tone.WARNING), Doing("running"))


def _cancelling(told: Told, event: Event) -> Telling:
    return replace(told, status="cancelling"), (
        Noted(f"cancelling{_because(event)}", Tone.WARNING),
        Doing("cancelling"),
    )


def _done(told: Told, event: Event) -> Telling:
    return replace(told, status="done"), (Stands(), Noted(_sum(told, event, "done"), Tone.GOOD))


def _failed(told: Told, event: Event) -> Telling:
    outcome = f"failed: {fault(event.data.get('error'))}"
    return replace(told, status="failed"), (Stands(), Noted(_sum(told, event, outcome), Tone.BAD))


def _cancelled(told: Told, event: Event) -> Telling:
    outcome = f"cancelled{_because(event)}"
    return replace(told, status="cancelled"), (Stands(), Noted(_sum(told, event, outcome), Tone.WARNING))


def _snapshot(told: Told, event: Event) -> Telling:
    """The whole run so far, once more and in short; what was said before of an open step is void."""
    void = (Void(),) if told.speaking else ()
    steps, totals = event.data.get("steps") or (), event.data.get("totals") or {}
    note = Noted(f"the run up to event {event.seq}, in short:")
    said = tuple(piece for step in steps for piece in _step_inshort(told, step))
    told = replace(
        told,
        status=event.data.get("status", told.status),
        speaking=bool(steps and steps[-1].get("open")),
        steps=totals.get("steps", 0),
        tokens=totals.get("input_tokens", 0) + totals.get("output_tokens", 0),
    )
    return _ended_inshort(told, event, (*void, note, *said))


def _step_inshort(told: Told, step: Mapping[str, Any]) -> Iterator[Piece]:
    if step.get("text"):
        yield Said(step["text"])
    if not step.get("open"):
        yield Stands()
    for call in step.get("calls") or ():
        yield Noted(f"→ {call.get('name')} {short(call.get('args', ''))}: {_outcome(call)}")
        yield from (Noted(f"  {questions.decided(each)}") for each in call.get("decisions") or ())
        if asked := call.get("approval"):
            yield from _question(told, asked)


def _outcome(call: Mapping[str, Any]) -> str:
    refused = "refused: " if call.get("refused") else ""
    return refused + short(call.get("content", "")) if call.get("state") == "finished" else str(call.get("state"))


def _ended_inshort(told: Told, event: Event, pieces: tuple[Piece, ...]) -> Telling:
    end = event.data.get("end")
    if not end:
        return told, (*pieces, Doing(told.status))
    told, more = tell(told, replace(event, type=end["type"], data=end["data"]))
    return told, (*pieces, *more)


_TELLERS: Mapping[str, Callable[[Told, Event], Telling]] = {
    "run.accepted": _accepted,
    "run.started": _started,
    "run.attempt": _taken_over,
    "run.waiting": _waiting,
    "run.resumed": _resumed,
    "step.started": _step,
    "text.delta": _delta,
    "step.reset": _reset,
    "model.replied": _replied,
    "approval.requested": _asked,
    "approval.resolved": _resolved,
    "tool.started": _tool_started,
    "tool.progress": _tool_progress,
    "tool.finished": _tool_finished,
    "tool.unknown": _tool_unknown,
    "run.cancelling": _cancelling,
    "run.done": _done,
    "run.failed": _failed,
    "run.cancelled": _cancelled,
    SNAPSHOT: _snapshot,
}


def fault(error: Any) -> str:
    """A run's error in one line."""
    if not isinstance(error, Mapping):
        return str(error or "no reason given")
    code, detail = error.get("code"), error.get("detail") or error.get("message")
    return ": ".join(str(part) for part in (code, detail) if part) or "no reason given"


def _because(event: Event) -> str:
    actor, reason = event.data.get("actor"), event.data.get("reason")
    return (f" by {actor}" if actor else "") + (f": {reason}" if reason else "")


def _tool(event: Event) -> str:
    return str(event.data.get("name", "a tool"))


def _sum(told: Told, event: Event, outcome: str) -> str:
    took = _seconds_between(told.accepted_at, event.at)
    parts = [
        outcome,
        f"{took:.1f} s" if took is not None else "",
        f"{told.steps} step{'s' if told.steps != 1 else ''}" if told.steps else "",
        f"{told.tokens} tokens" if told.tokens else "",
    ]
    return " · ".join(part for part in parts if part)


def _seconds_between(begin: str | None, end: str) -> float | None:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds() if begin else None
