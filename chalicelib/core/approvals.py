"""Questions to people about one exact call, and what their answers make of it. DESIGN section 5.

A question and its answer are two events of the run's log, and nothing else: the first answer stands because there is
one next seq. `Run.asks` lists the open ones for whoever looks for them over all runs.

Two things are asked. Before a call: may it be made? After one whose outcome nobody knows: did it happen?
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.core import ids
from chalicelib.core.agent import Expiry
from chalicelib.core.answer import answer
from chalicelib.core.change import NOBODY_MOVED_IT, Change, record
from chalicelib.core.cursor import following
from chalicelib.core.errors import Conflict, InvalidInput, NotFound
from chalicelib.core.events import Event, EventType, Log, Stamp
from chalicelib.core.moments import spelled
from chalicelib.core.reply import ToolCall
from chalicelib.core.run import Run, Status


class Question(StrEnum):
    """What is asked."""

    CALL = "call"
    OUTCOME = "outcome"


class Decision(StrEnum):
    """What a person may answer, or the clock in their place."""

    APPROVE = "approve"
    DENY = "deny"
    EDIT = "edit"
    HAPPENED = "happened"
    RETRY = "retry"
    ABORT = "abort"
    EXPIRED = "expired"


CHOICES: Mapping[Question, tuple[Decision, ...]] = {
    Question.CALL: (Decision.APPROVE, Decision.DENY, Decision.EDIT),
    Question.OUTCOME: (Decision.HAPPENED, Decision.RETRY, Decision.ABORT),
}

MAX_NOTE = 1_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision as somebody sent it. `digest` says which call they saw; `args` are those of an edited call; `grant`
    lets further calls of the tool in this run pass without a question."""

    decision: Decision
    digest: str
    args: Mapping[str, Any] | None = None
    note: str | None = None
    grant: bool = False


def digest(call: ToolCall) -> str:
    """Equal for the same call only: its id, its tool, its arguments."""
    exact = json.dumps([call.call_id, call.name, dict(call.args)], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(exact.encode()).hexdigest()


def ask(
    run: Run,
    call: ToolCall,
    *,
    question: Question,
    rule: str,
    preview: str,
    expires_at: datetime,
    on_expiry: Expiry,
    tail: int,
    stamp: Stamp,
) -> Change:
    """`approval.requested`, and the run with it among what it asks."""
    approval_id = ids.approval_id(following(tail))
    data = {
        "approval_id": approval_id,
        "call_id": call.call_id,
        "name": call.name,
        "args": dict(call.args),
        "digest": digest(call),
        "question": question,
        "choices": list(CHOICES[question]),
        "rule": rule,
        "preview": preview,
        "expires_at": spelled(expires_at),
        "on_expiry": on_expiry,
    }
    event = record(EventType.APPROVAL_REQUESTED, data, tail=tail, stamp=stamp)
    return Change(run, replace(run, asks=(*run.asks, approval_id)), event)


def resolve(run: Run, asked: Event, data: Mapping[str, Any], *, tail: int, stamp: Stamp) -> Change:
    """`approval.resolved`, and the run without the question. A waiting run has its answer with it."""
    without = asks_after(run.asks, EventType.APPROVAL_RESOLVED, asked.data)
    told = {**{name: asked.data[name] for name in ("approval_id", "call_id", "on_expiry")}, **data}
    if run.status is Status.WAITING:
        change = answer(run, EventType.APPROVAL_RESOLVED, told, tail=tail, stamp=stamp)
        return replace(change, after=replace(change.after, asks=without))
    event = record(EventType.APPROVAL_RESOLVED, told, tail=tail, stamp=stamp)
    return Change(run, replace(run, asks=without), event, NOBODY_MOVED_IT)


def asks_after(asks: tuple[str, ...], told: EventType, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The open questions once the log goes on with that event."""
    if told is EventType.APPROVAL_REQUESTED:
        return (*asks, data["approval_id"])
    if told is EventType.APPROVAL_RESOLVED:
        return tuple(each for each in asks if each != data["approval_id"])
    return asks


def open_in(log: Log) -> tuple[Event, ...]:
    """The questions that nobody has answered, as they were asked. A run that has ended asks nothing any more."""
    if log[-1].ends:
        return ()
    answered = {event.data["approval_id"] for event in log if event.type is EventType.APPROVAL_RESOLVED}
    asked = (event for event in log if event.type is EventType.APPROVAL_REQUESTED)
    return tuple(event for event in asked if event.data["approval_id"] not in answered)


def find(log: Log, approval_id: str) -> tuple[Event, Event | None]:
    """A question and its answer, if it has one. Raises `NotFound`."""
    about = [event for event in log if event.data.get("approval_id") == approval_id]
    if not about:
        raise NotFound("approval_not_found", "the run never asked that")
    return about[0], about[1] if len(about) > 1 else None


def check(verdict: Verdict, asked: Event) -> None:
    """Whether the verdict answers this question about this call. Raises `InvalidInput`, or `Conflict` for a call that
    is not the one that was seen."""
    choices = asked.data["choices"]
    if verdict.decision not in choices:
        expected = f"one of: {', '.join(choices)}"
        raise InvalidInput(
            "invalid_decision", "that is no answer to this question", field="decision", expected=expected
        )
    if (verdict.args is not None) != (verdict.decision is Decision.EDIT):
        raise InvalidInput(
            "invalid_decision", "only edit has args, and always", field="args", expected="args with edit"
        )
    if verdict.grant and verdict.decision is not Decision.APPROVE:
        raise InvalidInput("invalid_decision", "only approve grants more", field="grant", expected="grant with approve")
    if verdict.note is not None and len(verdict.note) > MAX_NOTE:
        expected = f"at most {MAX_NOTE} characters"
        raise InvalidInput("text_too_long", f"it has {len(verdict.note)} characters", field="note", expected=expected)
    if verdict.digest != asked.data["digest"]:
        raise Conflict("digest_differs", "what was seen is not what is asked", field="digest")


def told(verdict: Verdict, asked: Event, actor: str) -> dict[str, Any]:
    """The verdict as the log keeps it."""
    data: dict[str, Any] = {"decision": verdict.decision, "by": actor, "note": verdict.note}
    if verdict.args is not None:
        edited = edited_call(asked, verdict.args)
        data |= {"edited": {"call_id": edited.call_id, "args": dict(edited.args), "digest": digest(edited)}}
    return data | {"grant": {"tool": asked.data["name"]}} if verdict.grant else data


def edited_call(asked: Event, args: Mapping[str, Any]) -> ToolCall:
    """The call that an approver wants made in the place of the one that was asked about."""
    return ToolCall(ids.edited_call_id(asked.data["call_id"]), asked.data["name"], args)


def says_the_same(verdict: Verdict, asked: Event, standing: Event) -> bool:
    """Whether the verdict is the one that stands already."""
    mine = told(verdict, asked, actor="")
    return all(standing.data.get(name) == mine.get(name) for name in ("decision", "edited", "grant"))


def expired(asked: Event, now: datetime) -> bool:
    """Whether its time has passed."""
    return now >= datetime.fromisoformat(asked.data["expires_at"])
