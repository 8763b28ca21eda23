"""What may stand in a run's log, and which of it a slow client may be spared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

SCHEMA_VERSION = 1
"""Stands on every event item; raised when the meaning of `data` changes."""

OUTSIDE = 0
"""The attempt of a writer that holds no run: the API, the sweeper. Workers count from one."""


class EventType(StrEnum):
    """The types of events. Only those in `SPARABLE` may be merged or dropped on the way to a slow client."""

    RUN_ACCEPTED = "run.accepted"
    RUN_STARTED = "run.started"
    RUN_ATTEMPT = "run.attempt"
    RUN_WAITING = "run.waiting"
    RUN_RESUMED = "run.resumed"
    RUN_CANCELLING = "run.cancelling"
    RUN_DONE = "run.done"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    STEP_STARTED = "step.started"
    STEP_RESET = "step.reset"
    TEXT_DELTA = "text.delta"
    MODEL_REPLIED = "model.replied"
    TOOL_STARTED = "tool.started"
    TOOL_PROGRESS = "tool.progress"
    TOOL_FINISHED = "tool.finished"
    TOOL_UNKNOWN = "tool.unknown"
    APPROVAL_REQUESTED = "approval.requested"
    APPROVAL_RESOLVED = "approval.resolved"
    MESSAGE_ADDED = "message.added"
    SNAPSHOT = "snapshot"
    """Stands in no log: a reader gets it in the place of all events up to its seq (see `core.snapshot`)."""


SPARABLE = frozenset({EventType.TEXT_DELTA, EventType.TOOL_PROGRESS})
ENDS = frozenset({EventType.RUN_DONE, EventType.RUN_FAILED, EventType.RUN_CANCELLED})
"""The terminal events. One of them is the last of its log, always."""

SETTLES_CALL = frozenset({EventType.TOOL_FINISHED, EventType.TOOL_UNKNOWN})
"""What a worker writes of a tool call that it has started: its outcome, or that it does not know it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a run's log.

    `attempt` is the writer's hold on the run (`OUTSIDE` for a writer without one) and `write_id` names the one write
    that put the event there, over every retry of it: the two of them tell a repeated write from a rival's. `gone` names
    the fields of `data` of which only the reference is left: their payload is not there any more. A worker meets none.
    """

    seq: int
    type: EventType
    at: datetime
    data: Mapping[str, Any]
    attempt: int
    write_id: str
    gone: tuple[str, ...] = ()

    @property
    def ends(self) -> bool:
        """Whether the log ends here."""
        return self.type in ENDS


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who writes, when, and under which id: what every event carries besides its meaning."""

    at: datetime
    attempt: int
    write_id: str


Log = Sequence[Event]
"""A run's events from seq 0 on, without a hole."""
