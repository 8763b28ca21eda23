"""What a model is shown, folded from the log up to its own `step.started` and not beyond."""

from __future__ import annotations

import json

from chalicelib.core import ids
from chalicelib.core.events import SETTLES_CALL, Event, EventType, Log
from chalicelib.core.reply import Message, ModelSaid, ToolCall, ToolSaid, UserSaid
from chalicelib.core.steps import reply_of, tool_calls

UNKNOWN_OUTCOME = (
    "The outcome of this call is unknown: it was started and may have had its effect. It is not made again."
)
FILES = "Files of this task:"
EDITED = "An approver changed the arguments of this call to {args} before it was made.\n"


def messages(run_id: str, log: Log, until: int) -> tuple[Message, ...]:
    """The turns told by the events up to the seq `until`, in the order in which they were written.

    A tool's answer follows the model's words that asked for it, whatever a user said in between: providers insist on
    that.
    """
    told: list[Message] = []
    said_meanwhile: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    last_said = _last_outcomes(log, until)
    edits: dict[str, str] = {}
    for event in log:
        if event.seq > until:
            break
        match event.type:
            case EventType.RUN_ACCEPTED | EventType.MESSAGE_ADDED:
                (said_meanwhile if open_calls else told).append(UserSaid(event.data["text"] + _files(event)))
            case EventType.MODEL_REPLIED:
                said = _model_said(run_id, event)
                told.append(said)
                open_calls = {call.call_id: call for call in said.calls}
            case EventType.APPROVAL_RESOLVED if "edited" in event.data:
                edits[event.data["call_id"]] = EDITED.format(args=json.dumps(event.data["edited"]["args"]))
            case EventType.TOOL_FINISHED | EventType.TOOL_UNKNOWN if event.seq in last_said:
                call = open_calls.pop(ids.asked_call_id(event.data["call_id"]))
                told.append(_tool_said(call, event, edits.get(call.call_id, "")))
        if not open_calls:
            told += said_meanwhile
            said_meanwhile = []
    return tuple(told)


def _files(event: Event) -> str:
    """What a task's files are called, and how large they are: tools find them by their names."""
    lines = [f"- {file['name']} ({file['media_type']}, {file['size']} bytes)" for file in event.data.get("files", ())]
    return "\n\n".join(["", f"{FILES}\n" + "\n".join(lines)]) if lines else ""


def _last_outcomes(log: Log, until: int) -> frozenset[int]:
    """The seqs at which calls were settled for good: an unknown outcome may have been found out later."""
    said = {
        ids.asked_call_id(event.data["call_id"]): event.seq
        for event in log
        if event.type in SETTLES_CALL and event.seq <= until
    }
    return frozenset(said.values())


def _model_said(run_id: str, event: Event) -> ModelSaid:
    reply = reply_of(event.data)
    return ModelSaid(reply.text, tool_calls(run_id, int(event.data["step"]), reply))


def _tool_said(call: ToolCall, event: Event, edited: str) -> ToolSaid:
    if event.type is EventType.TOOL_UNKNOWN:
        return ToolSaid(call.call_id, call.name, edited + UNKNOWN_OUTCOME, ok=False)
    return ToolSaid(call.call_id, call.name, edited + event.data["content"], ok=event.data["ok"])


def text(log: Log) -> str:
    """What the model has said to the user in this run: the concatenation of its replies' text."""
    return "".join(event.data["text"] for event in log if event.type is EventType.MODEL_REPLIED)
