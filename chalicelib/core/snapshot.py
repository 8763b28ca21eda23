"""A log folded into one value: for a client too far behind for the re-enactment, and for the archive of an old run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chalicelib.core import cursor, ids, steps
from chalicelib.core.cursor import Answer, NoAnswer
from chalicelib.core.events import Event, EventType, Log
from chalicelib.core.moments import spelled
from chalicelib.core.run import Status
from chalicelib.core.steps import CallState, Step
from chalicelib.core.transitions import status_told

CONTENT_CAP = 2_000
"""Characters that a snapshot keeps of what a tool answered."""

_BEGINS_CALL = frozenset({EventType.STEP_STARTED, EventType.STEP_RESET})
_SAYS_MESSAGE = frozenset({EventType.RUN_ACCEPTED, EventType.MESSAGE_ADDED})


def fold(run_id: str, log: Log) -> Event:
    """The snapshot of a log: it stands for every event up to its last one, and bears that one's seq and time."""
    last = log[-1]
    status = status_told(log)
    data = {
        "status": status,
        "messages": [{"seq": event.seq, "text": event.data["text"]} for event in log if event.type in _SAYS_MESSAGE],
        "steps": [_step(step, part, asks=not last.ends) for step, part in steps.every(run_id, log)],
        "waiting": _waiting(log) if status is Status.WAITING else None,
        "totals": _totals(log),
        "end": {"type": last.type, "data": dict(last.data)} if last.ends else None,
    }
    return replace(last, type=EventType.SNAPSHOT, data=data)


def text(snapshot: Event) -> str:
    """What the model has said to the user."""
    return "".join(step["text"] for step in snapshot.data["steps"])


def status(snapshot: Event) -> Status:
    """Where the run stood."""
    return Status(snapshot.data["status"])


def end(snapshot: Event) -> Event | None:
    """The terminal event that was folded in, as it stood in the log."""
    told = snapshot.data["end"]
    return replace(snapshot, type=EventType(told["type"]), data=told["data"]) if told else None


def answer(since: int, snapshot: Event) -> Answer | NoAnswer:
    """What a read after a cursor delivers where the snapshot stands for the log."""
    return cursor.answer_summed_up(since, snapshot, status(snapshot), ended=end(snapshot) is not None)


def _step(step: Step, part: Log, *, asks: bool) -> dict[str, Any]:
    return {
        "step": step.number,
        "text": step.reply.text if step.reply else _streamed(step, part),
        "open": step.reply is None,
        "calls": [{**_call(state, asks=asks), **_decided(state, part)} for state in step.calls],
    }


def _streamed(step: Step, part: Log) -> str:
    deltas = (event for event in part if event.type is EventType.TEXT_DELTA and event.seq >= step.wrote_from)
    return "".join(event.data["text"] for event in deltas)


def _call(state: CallState, *, asks: bool) -> dict[str, Any]:
    call = {"call_id": state.call.call_id, "name": state.call.name, "args": dict(state.call.args)}
    if state.finished is not None:
        content = str(state.finished.data["content"])
        finished = {"state": "finished", "ok": state.finished.data["ok"], "content": content[:CONTENT_CAP]}
        refused = {"refused": True} if state.finished.data.get("refused") else {}
        return {**call, **finished, "cut": len(content) > CONTENT_CAP, **refused}
    if state.unknown is not None:
        call["state"] = "unknown"
    else:
        call["state"] = "started" if state.started else "asked"
    return {**call, "approval": dict(state.asked.data)} if asks and state.open and state.asked else call


def _decided(state: CallState, part: Log) -> dict[str, Any]:
    """What people answered about the call, oldest first; nothing for one that nobody was asked about."""
    asked_id = ids.asked_call_id(state.call.call_id)
    about = [event for event in part if ids.asked_call_id(event.data.get("call_id", "")) == asked_id]
    asked = {event.data["approval_id"]: event for event in about if event.type is EventType.APPROVAL_REQUESTED}
    resolved = [event for event in about if event.type is EventType.APPROVAL_RESOLVED]
    decisions = [_decision(asked[event.data["approval_id"]], event) for event in resolved]
    return {"decisions": decisions} if decisions else {}


def _decision(asked: Event, resolved: Event) -> dict[str, Any]:
    """The answer, and which question it is one to. The call shows what was made, so an edit tells what was asked."""
    data = resolved.data
    kept = {name: data[name] for name in ("approval_id", "decision", "by", "note", "grant") if name in data}
    seen = {"args": dict(asked.data["args"])} if "edited" in data else {}
    return {**kept, "question": asked.data["question"], "at": spelled(resolved.at), **seen}


def _waiting(log: Log) -> Mapping[str, Any]:
    """The wait that is open, as its `run.waiting` tells of it."""
    told = next(event for event in reversed(log) if event.type is EventType.RUN_WAITING)
    return {"seq": told.seq, **told.data}


def _totals(log: Log) -> dict[str, Any]:
    used = [event.data["usage"] for event in log if event.type is EventType.MODEL_REPLIED]
    return {
        "steps": sum(event.type is EventType.STEP_STARTED for event in log),
        "model_calls": sum(event.type in _BEGINS_CALL for event in log),
        "input_tokens": sum(usage["input_tokens"] for usage in used),
        "output_tokens": sum(usage["output_tokens"] for usage in used),
        "estimated": any(usage["estimated"] for usage in used),
    }
