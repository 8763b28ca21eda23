"""One act, one Change, one commit: a run's next state together with the event that tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.core import cursor
from chalicelib.core.events import Event, EventType, Stamp
from chalicelib.core.run import Run

NOBODY_MOVED_IT = ("status", "attempt", "slot")
"""The fields of the run that every commit holds against what was read. Its slot says in which index it stands."""

NOBODY_HOLDS_IT = (*NOBODY_MOVED_IT, "lease_until")
"""The same for whoever takes a run, or settles it in its holder's place: a renewal in between must win."""


@dataclass(frozen=True, slots=True)
class Change:
    """`before` as it was read, `after` as it shall be, and the event at the tail of the log; all of it or nothing.

    `guards` names the fields of `before` that must still stand. `owed` is what the log must hold before it may end, a
    reply that was broken off: it stands only together with its end.
    """

    before: Run
    after: Run
    event: Event
    guards: tuple[str, ...] = NOBODY_MOVED_IT
    owed: Event | None = None

    @property
    def events(self) -> tuple[Event, ...]:
        """What the log gains, in order."""
        return (self.event,) if self.owed is None else (self.owed, self.event)


def record(type: EventType, data: Mapping[str, Any], *, tail: int, stamp: Stamp) -> Event:
    """The event that follows `tail`, which is the seq of the last event that its writer knows."""
    return Event(cursor.following(tail), type, stamp.at, data, stamp.attempt, stamp.write_id)
