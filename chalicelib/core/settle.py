"""What is owed to the log before it may end: the text that was streamed, as a reply that was broken off.

Whoever ends a run in the middle of a model call writes this together with the end, in one transaction: the worker, the
canceller and the sweeper alike. So the text that any client has put together from deltas equals the text of the
`model.replied` events, no text follows a reply that was broken off, and nobody goes on from one.
"""

from __future__ import annotations

from typing import Any

from chalicelib.core import steps, transcript, usage
from chalicelib.core.change import record
from chalicelib.core.events import Event, EventType, Log, Stamp
from chalicelib.core.reply import Reply

BROKEN_OFF = "broken off"


def owed(run_id: str, log: Log, stamp: Stamp) -> Event | None:
    """The `model.replied` that is owed for an open model call, as the event after `log`; None if none is open."""
    data = partial_reply(run_id, log)
    return None if data is None else record(EventType.MODEL_REPLIED, data, tail=log[-1].seq, stamp=stamp)


def partial_reply(run_id: str, log: Log) -> dict[str, Any] | None:
    """The data of the `model.replied` that is owed for an open model call; None if none is open.

    The tokens are estimated: the provider gives its figures at the end of a reply, and this one had none. Of a log of
    which something is gone, only what was said is counted: what was shown can't be told.
    """
    step = steps.current(run_id, log) if _call_is_open(log) else None
    if step is None:
        return None
    deltas = (event for event in log if event.type is EventType.TEXT_DELTA and event.seq >= step.wrote_from)
    said = "".join(event.data["text"] for event in deltas if not event.gone)
    shown = () if any(event.gone for event in log) else transcript.messages(run_id, log, step.began)
    spent = usage.estimate("", shown, said)
    return steps.reply_data(step.number, Reply(said, (), spent, BROKEN_OFF), partial=True)


def _call_is_open(log: Log) -> bool:
    """Told by the types alone: a reply that is not looked into may be gone."""
    calls = (EventType.STEP_STARTED, EventType.MODEL_REPLIED)
    return next((event.type for event in reversed(log) if event.type in calls), None) is EventType.STEP_STARTED
