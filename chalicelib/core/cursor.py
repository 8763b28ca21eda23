"""The one place where a seq is counted on, and what a read after a cursor may deliver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Status

START = -1
"""The cursor of a client that has nothing yet."""

HIGHEST = 9_999_999_999
"""The last seq that a log can hold: its keys have ten digits. A cursor above it is ahead of every log."""


def following(seq: int) -> int:
    """The seq after `seq`: the only `+ 1` there is."""
    return seq + 1


def unbroken(events: Iterable[Event], since: int) -> tuple[Event, ...]:
    """The events after the cursor up to the first hole: all that may ever be delivered (a Query is no snapshot)."""
    whole: list[Event] = []
    for event in events:
        if event.seq == following(whole[-1].seq if whole else since):
            whole.append(event)
        elif event.seq > since:
            break
    return tuple(whole)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a read after a cursor delivers, and what its reader does next.

    `status` is None where the page was full before the run was reached. It may be newer than the events; `done` is not:
    it says that the terminal event has been delivered, now or before.
    """

    events: tuple[Event, ...]
    next_since: int
    has_more: bool
    status: Status | None
    done: bool
    next_poll_ms: int


class NoAnswer(Enum):
    """Why a read delivers nothing."""

    READ_AGAIN = auto()
    """It may be the replica's lag: a strong read decides."""
    AHEAD = auto()
    """The cursor is ahead of the log."""
    HOLE = auto()
    """Events stand behind one that is missing."""


def answer(since: int, events: Sequence[Event], run: Run | None, *, strong: bool) -> Answer | NoAnswer:
    """Judge one read: the event at the cursor and those after it, and the run if the read came so far."""
    delivered = unbroken(events, since)
    next_since = delivered[-1].seq if delivered else since
    beyond = any(event.seq > next_since for event in events)
    if not delivered and (doubt := _doubt(since, events, run, beyond)):
        return doubt if strong else NoAnswer.READ_AGAIN
    end = next((event for event in events if event.ends and event.seq <= next_since), None)
    has_more = end is None and (run is None or beyond)
    status = _ENDS_AS[end.type] if end else run.status if run else None
    return Answer(delivered, next_since, has_more, status, end is not None, _next_poll_ms(status, has_more, end))


def answer_summed_up(since: int, snapshot: Event, status: Status, *, ended: bool) -> Answer | NoAnswer:
    """The same with a snapshot in the place of the events: it is the one thing to deliver to whoever is behind it."""
    if since > snapshot.seq:
        return NoAnswer.AHEAD
    delivered = (snapshot,) if since < snapshot.seq else ()
    return Answer(
        delivered, snapshot.seq, False, status, ended, _next_poll_ms(status, False, snapshot if ended else None)
    )


def _doubt(since: int, events: Sequence[Event], run: Run | None, beyond: bool) -> NoAnswer | None:
    """What is wrong with a read that has nothing for its cursor; None if there simply is nothing new."""
    if beyond or run is None:
        return NoAnswer.HOLE
    proven = since == START or any(event.seq == since for event in events)
    return None if proven else NoAnswer.AHEAD


_ENDS_AS = {
    EventType.RUN_DONE: Status.DONE,
    EventType.RUN_FAILED: Status.FAILED,
    EventType.RUN_CANCELLED: Status.CANCELLED,
}

AT_ONCE, SOON, SHORTLY, LATER = 0, 250, 500, 5000
_POLL_MS = {
    Status.PENDING: SHORTLY,
    Status.RUNNING: SHORTLY,
    Status.STREAMING: SOON,
    Status.WAITING: LATER,
    Status.CANCELLING: SHORTLY,
}


def _next_poll_ms(status: Status | None, has_more: bool, end: Event | None) -> int:
    """An ended run whose end is not delivered yet is worth asking soon; one whose end is, hardly ever."""
    if has_more or status is None:
        return AT_ONCE
    return LATER if end else _POLL_MS.get(status, SOON)
