"""What a model is shown, folded from the log up to its own `step.started` and not beyond."""

from __future__ import annotations

from chalicelib.core.events import Event, EventType, Log
from chalicelib.core.reply import Message, ModelSaid, ToolCall, ToolSaid, UserSaid
from chalicelib.core.steps import reply_of, tool_calls

UNKNOWN_OUTCOME = (
    "The outcome of this call is unknown: it was started and may have had its effect. It is not made again."
)


def messages(run_id: str, log: Log, until: int) -> tuple[Message, ...]:
    """The turns told by the events up to the seq `until`, in the order in which they were written.

    A tool's answer follows the model's words that asked for it, whatever a user said in between: providers insist on
    that.
    """
    told: list[Message] = []
    said_meanwhile: list[Message] = []
    open_calls: dict[str, ToolCall] = {}
    for event in log:
        if event.seq > until:
            break
        match event.type:
            case EventType.RUN_ACCEPTED | EventType.MESSAGE_ADDED:
                (said_meanwhile if open_calls else told).append(UserSaid(event.data["text"]))
            case EventType.MODEL_REPLIED:
                said = _model_said(run_id, event)
                told.append(said)
                open_calls = {call.call_id: call for call in said.calls}
            case EventType.TOOL_FINISHED | EventType.TOOL_UNKNOWN:
                call = open_calls.pop(event.data["call_id"])
                told.append(_tool_said(call, event))
        if not open_calls:
            told += said_meanwhile
            said_meanwhile = []
    return tuple(told)


def _model_said(run_id: str, event: Event) -> ModelSaid:
    reply = reply_of(event.data)
    return ModelSaid(reply.text, tool_calls(run_id, int(event.data["step"]), reply))


def _tool_said(call: ToolCall, event: Event) -> ToolSaid:
    if event.type is EventType.TOOL_UNKNOWN:
        return ToolSaid(call.call_id, call.name, UNKNOWN_OUTCOME, ok=False)
    return ToolSaid(call.call_id, call.name, event.data["content"], ok=event.data["ok"])


def text(log: Log) -> str:
    """What the model has said to the user in this run: the concatenation of its replies' text."""
    return "".join(event.data["text"] for event in log if event.type is EventType.MODEL_REPLIED)
