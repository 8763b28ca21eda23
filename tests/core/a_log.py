"""Logs in few words: `a_log().accepted("hi").started().step(1).said("yes").events`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from chalicelib.core.approvals import CHOICES, Question
from chalicelib.core.events import OUTSIDE, Event, EventType

RUN_ID = "run_00000000000000000000000001"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class LogInWords:
    """Each word appends one event, a second after the one before."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.attempt = OUTSIDE

    @property
    def now(self) -> datetime:
        return NOON + timedelta(seconds=len(self.events))

    def add(self, type: EventType, data: Mapping[str, Any], attempt: int | None = None) -> Self:
        seq = len(self.events)
        writer = self.attempt if attempt is None else attempt
        self.events.append(Event(seq, type, self.now, data, writer, f"w{seq}"))
        return self

    def accepted(self, text: str = "go") -> Self:
        return self.add(EventType.RUN_ACCEPTED, {"text": text, "agent": "demo"}, OUTSIDE)

    def started(self) -> Self:
        self.attempt += 1
        return self.add(EventType.RUN_STARTED, {"attempt": self.attempt, "reason": "submitted"})

    def taken(self, reason: str = "lapsed") -> Self:
        self.attempt += 1
        return self.add(EventType.RUN_ATTEMPT, {"attempt": self.attempt, "reason": reason})

    def step(self, number: int = 1) -> Self:
        return self.add(EventType.STEP_STARTED, {"step": number})

    def reset(self, step: int = 1, from_seq: int = 0) -> Self:
        return self.add(EventType.STEP_RESET, {"step": step, "from_seq": from_seq})

    def delta(self, text: str, step: int = 1) -> Self:
        return self.add(EventType.TEXT_DELTA, {"step": step, "attempt": self.attempt, "text": text})

    def said(self, text: str = "", *asks: str, step: int = 1) -> Self:
        usage = {"input_tokens": 1, "output_tokens": 1, "estimated": False}
        calls = [{"name": name, "args": {}} for name in asks]
        data = {"step": step, "text": text, "tool_calls": calls, "usage": usage, "stop": "stop"}
        return self.add(EventType.MODEL_REPLIED, data)

    def tool_began(
        self, index: int = 0, step: int = 1, effect: str = "read", lasting: int = 30, answers: str = "tool"
    ) -> Self:
        deadline = (self.now + timedelta(seconds=lasting)).isoformat()
        call = {"call_id": f"{RUN_ID}-{step}-{index}", "name": "look", "args": {}, "effect": effect}
        return self.add(EventType.TOOL_STARTED, {**call, "deadline": deadline, "answers": answers})

    def tool_ended(self, index: int = 0, step: int = 1, content: str = "seen", ok: bool = True) -> Self:
        call = {"call_id": f"{RUN_ID}-{step}-{index}", "name": "look"}
        return self.add(EventType.TOOL_FINISHED, {**call, "ok": ok, "content": content})

    def tool_lost(self, index: int = 0, step: int = 1) -> Self:
        return self.add(EventType.TOOL_UNKNOWN, {"call_id": f"{RUN_ID}-{step}-{index}", "name": "look"})

    def call_id(self, index: int = 0, step: int = 1) -> str:
        return f"{RUN_ID}-{step}-{index}"

    def asked(self, index: int = 0, step: int = 1, question: str = "call", on_expiry: str = "deny") -> Self:
        """A question that is open for an hour."""
        data = {
            "approval_id": f"ap_{len(self.events)}",
            "call_id": self.call_id(index, step),
            "name": "look",
            "args": {},
            "digest": "d",
            "question": question,
            "choices": list(CHOICES[Question(question)]),
            "rule": "look is risky",
            "preview": "look",
            "expires_at": (self.now + timedelta(hours=1)).isoformat(),
            "on_expiry": on_expiry,
        }
        return self.add(EventType.APPROVAL_REQUESTED, data)

    def answered(self, decision: str, index: int = 0, step: int = 1, **more: Any) -> Self:
        """The answer to the last question about the call."""
        about = [
            event
            for event in self.events
            if event.type is EventType.APPROVAL_REQUESTED and event.data["call_id"] == self.call_id(index, step)
        ][-1]
        data = {name: about.data[name] for name in ("approval_id", "call_id", "on_expiry")}
        said = {"decision": decision, "by": "key_1", "note": None, **more}
        return self.add(EventType.APPROVAL_RESOLVED, {**data, **said}, OUTSIDE)

    def message(self, text: str = "and that?") -> Self:
        return self.add(EventType.MESSAGE_ADDED, {"text": text}, OUTSIDE)

    def waiting(self, reason: str = "provider") -> Self:
        return self.add(EventType.RUN_WAITING, {"for": reason})

    def resumed(self) -> Self:
        self.attempt += 1
        return self.add(EventType.RUN_RESUMED, {"attempt": self.attempt, "reason": "wait over"})

    def cancelling(self) -> Self:
        return self.add(EventType.RUN_CANCELLING, {"actor": "key_1", "reason": None}, OUTSIDE)

    def done(self) -> Self:
        return self.add(EventType.RUN_DONE, {"output": {"text": ""}})


def a_log() -> LogInWords:
    return LogInWords()


def a_started_log() -> LogInWords:
    return a_log().accepted().started()
