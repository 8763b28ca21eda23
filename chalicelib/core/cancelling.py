"""How a run is cancelled: by an order to its holder, or on the spot where there is none. DESIGN sections 3 and 11."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from chalicelib.core import settle
from chalicelib.core.change import NOBODY_MOVED_IT, Change
from chalicelib.core.events import SETTLES_CALL, Event, EventType, Log, Stamp
from chalicelib.core.run import Run, Trigger
from chalicelib.core.transitions import move, status_after

_MILLISECOND = timedelta(milliseconds=1)


def order(run: Run, *, tail: int, stamp: Stamp, actor: str, reason: str | None) -> Change:
    """`run.cancelling`: a running run's holder is told to begin nothing more."""
    return move(run, Trigger.CANCEL, tail=tail, stamp=stamp, data={"actor": actor, "reason": reason})


def still_holds(run: Run, found: Event) -> bool:
    """Whether the order may be given as decided, behind an event that came in between: the same holder goes on with the
    same status. Anything else is decided anew."""
    same_status = status_after(run.status, found.type) is run.status
    return same_status and not found.ends and found.attempt == run.attempt


def at_once(run: Run, log: Log, *, stamp: Stamp, actor: str, reason: str | None) -> Change:
    """`run.cancelled` without an order before it: nobody works on a pending or waiting run."""
    data = _outcome(log, stamp, actor=actor, reason=reason, asked=None)
    owed = settle.owed(run.run_id, log, stamp)
    return move(run, Trigger.CANCEL, tail=log[-1].seq, stamp=stamp, data=data, owed=owed)


def confirm(run: Run, log: Log, *, stamp: Stamp, guards: tuple[str, ...] = NOBODY_MOVED_IT) -> Change:
    """`run.cancelled`, the answer to the order. Whoever confirms in the holder's place guards the lease as well."""
    asked = order_in(log)
    if asked is None:
        raise ValueError(f"{run.run_id} has no run.cancelling to confirm")
    data = _outcome(log, stamp, actor=asked.data["actor"], reason=asked.data["reason"], asked=asked)
    owed = settle.owed(run.run_id, log, stamp)
    return move(run, Trigger.CONFIRM, tail=log[-1].seq, stamp=stamp, data=data, guards=guards, owed=owed)


def order_in(log: Log) -> Event | None:
    """The `run.cancelling` of the log; there is at most one."""
    return next((event for event in reversed(log) if event.type is EventType.RUN_CANCELLING), None)


def unsettled(log: Log) -> list[str]:
    """The calls that were started and whose outcome nobody wrote down, in the order of their start. One that is made
    again is open again."""
    open_calls: dict[str, None] = {}
    for event in log:
        if event.type is EventType.TOOL_STARTED:
            open_calls[event.data["call_id"]] = None
        elif event.type in SETTLES_CALL:
            open_calls.pop(event.data["call_id"], None)
    return list(open_calls)


def _outcome(log: Log, stamp: Stamp, *, actor: str, reason: str | None, asked: Event | None) -> Mapping[str, Any]:
    return {
        "actor": actor,
        "reason": reason,
        "latency_ms": max((stamp.at - asked.at) // _MILLISECOND, 0) if asked else 0,
        "superseded_by": None,
        "unsettled": unsettled(log),
    }
