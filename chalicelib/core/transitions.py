"""The run's state machine: the only module that says which status may follow which. DESIGN section 3.

Everything that gives a run a new status stands here: the table, and the one function that takes an edge of it. The
store accepts only what `move` made, and the diagram in docs/architecture.md is drawn from `TRANSITIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.core import slots
from chalicelib.core.change import NOBODY_MOVED_IT, Change, record
from chalicelib.core.errors import IllegalMove
from chalicelib.core.events import Event, EventType, Log, Stamp
from chalicelib.core.run import Run, Status, Trigger


@dataclass(frozen=True, slots=True)
class Edge:
    """Where a trigger leads, and the event that tells of it."""

    to: Status
    tells: EventType


_ENDS_WELL = Edge(Status.DONE, EventType.RUN_DONE)
_ENDS_BADLY = Edge(Status.FAILED, EventType.RUN_FAILED)
_CANCELLED = Edge(Status.CANCELLED, EventType.RUN_CANCELLED)
_CANCELLING = Edge(Status.CANCELLING, EventType.RUN_CANCELLING)
_WAITS = Edge(Status.WAITING, EventType.RUN_WAITING)

TRANSITIONS: Mapping[Status, Mapping[Trigger, Edge]] = {
    Status.PENDING: {
        Trigger.TAKE: Edge(Status.RUNNING, EventType.RUN_STARTED),
        Trigger.FAIL: _ENDS_BADLY,
        Trigger.CANCEL: _CANCELLED,
    },
    Status.RUNNING: {
        Trigger.TAKE: Edge(Status.RUNNING, EventType.RUN_ATTEMPT),
        Trigger.FIRST_TOKEN: Edge(Status.STREAMING, EventType.TEXT_DELTA),
        Trigger.WAIT: _WAITS,
        Trigger.FINISH: _ENDS_WELL,
        Trigger.FAIL: _ENDS_BADLY,
        Trigger.CANCEL: _CANCELLING,
    },
    Status.STREAMING: {
        Trigger.TAKE: Edge(Status.RUNNING, EventType.RUN_ATTEMPT),
        Trigger.WAIT: _WAITS,
        Trigger.FINISH: _ENDS_WELL,
        Trigger.FAIL: _ENDS_BADLY,
        Trigger.CANCEL: _CANCELLING,
    },
    Status.WAITING: {
        Trigger.TAKE: Edge(Status.RUNNING, EventType.RUN_RESUMED),
        Trigger.WAIT: _WAITS,
        Trigger.FAIL: _ENDS_BADLY,
        Trigger.CANCEL: _CANCELLED,
    },
    Status.CANCELLING: {Trigger.CONFIRM: _CANCELLED},
    Status.DONE: {},
    Status.FAILED: {},
    Status.CANCELLED: {},
}


def move(
    run: Run,
    trigger: Trigger,
    *,
    tail: int,
    stamp: Stamp,
    data: Mapping[str, Any],
    guards: tuple[str, ...] = NOBODY_MOVED_IT,
    owed: Event | None = None,
    **fields: Any,
) -> Change:
    """Take the edge that `trigger` names; `fields` are what else the run becomes. Raises `IllegalMove`.

    `owed`, if it is given, follows `tail`, and the event that tells of the move follows it.
    """
    try:
        edge = TRANSITIONS[run.status][trigger]
    except KeyError:
        raise IllegalMove(run.status, trigger) from None
    follows = {"slot": slots.after(run, edge.to), **_consequences(run, edge.to, stamp)}
    after = replace(run, **{**follows, **fields, "status": edge.to})
    event = record(edge.tells, data, tail=owed.seq if owed else tail, stamp=stamp)
    return Change(run, after, event, guards, owed)


# The token stays: whoever ends a wait reads it after the commit, and waking with a settled one is no fault.
_NOT_WAITING: Mapping[str, Any] = {"waiting_for": None, "waiting_seq": None, "wake_at": None}
_NOT_HELD: Mapping[str, Any] = {"lease_until": None}


def _consequences(run: Run, to: Status, stamp: Stamp) -> dict[str, Any]:
    """What a new status means for the rest of the run: an end frees everything, a wait frees the hold."""
    if to.terminal:
        return {**_NOT_WAITING, **_NOT_HELD, "asks": (), "due_at": None, "ended_at": stamp.at}
    if to is Status.WAITING:
        return dict(_NOT_HELD)
    if to is Status.STREAMING:
        return {"first_token_at": run.first_token_at or stamp.at}
    return dict(_NOT_WAITING)


def status_after(status: Status, told: EventType) -> Status:
    """The status that a run has once its log goes on with an event of that type: the table, read backwards."""
    return next((edge.to for edge in TRANSITIONS[status].values() if edge.tells is told), status)


def status_told(log: Log) -> Status:
    """The status that a whole log implies; the run's own must equal it."""
    status = Status.PENDING
    for event in log:
        status = status_after(status, event.type)
    return status
