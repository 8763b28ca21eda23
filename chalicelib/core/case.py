"""A run as the doctor gets to see it, and the words for what may be found of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.core.slots import Slots


class Code(StrEnum):
    """What can be found. The words are part of the API."""

    START_MISSING = "start_missing"
    HOLE = "hole"
    DOUBLE = "double"
    TWO_ENDS = "two_ends"
    END_NOT_LAST = "end_not_last"
    STATUS_DIFFERS = "status_differs"
    HELD_AFTER_END = "held_after_end"
    NOT_LISTED = "not_listed"
    LISTED_WRONGLY = "listed_wrongly"
    OVERDUE = "overdue"
    ATTEMPT_FALLS = "attempt_falls"
    ATTEMPT_DIFFERS = "attempt_differs"
    TEXT_DIFFERS = "text_differs"
    SETTLED_TWICE = "settled_twice"
    STARTED_TWICE = "started_twice"
    ASKS_DIFFER = "asks_differ"
    ASKS_AFTER_END = "asks_after_end"
    ANSWERED_TWICE = "answered_twice"
    SLOT_DIFFERS = "slot_differs"
    SLOT_MISSING = "slot_missing"
    SLOT_STALE = "slot_stale"
    EXPIRES = "expires"
    PAYLOAD_MISSING = "payload_missing"
    ARCHIVE_MISSING = "archive_missing"
    ARCHIVE_DIFFERS = "archive_differs"
    EVENTS_LEFT = "events_left"
    ORPHAN = "orphan"


class Listing(StrEnum):
    """The parts of the index of what is due."""

    UNFINISHED = "unfinished"
    IN_LINE = "in line"
    OLD = "old"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Case:
    """A run and all that lies in the table for it.

    `events` are in the order of their seq, with whatever holes. `listed` says where the run stands in the index of what
    is due, `slots` are its account's, as far as it has to do with them. `expiring` are the seqs of events with a time
    to live.
    """

    run: Run
    events: Sequence[Event]
    archive: Event | None
    listed: Listing | None
    slots: Slots | None = None
    expiring: tuple[int, ...] = ()

    @property
    def incomplete(self) -> tuple[int, ...]:
        """The seqs of events whose payload is gone."""
        return tuple(event.seq for event in self.events if event.gone)

    @property
    def whole(self) -> bool:
        """Whether the log is there from its start, without a hole."""
        return bool(self.events) and [event.seq for event in self.events] == [*range(len(self.events))]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be; `repaired` if that was put right since."""

    run_id: str
    code: Code
    detail: str
    repaired: bool = False


Told = Iterator[tuple[Code, str]]
