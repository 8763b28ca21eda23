"""Follow a run's log to its end, over every kind of bad connection, without missing or doubling an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pawl_client.errors import LogBroken, Trouble
from pawl_client.pace import Pace
from pawl_client.wire import SNAPSHOT, Event, Page

START = -1
"""The cursor of somebody who has nothing yet."""
LONG_POLL = 20
"""Seconds for which the server is asked to hold an answer when the last one was empty."""
SHORTEST_PAUSE = 0.05
"""Seconds; a server that says 0 and has nothing more must not be polled without a breath."""
GAP_TRIES = 5


class Log(Protocol):
    """Where events are read from: a `PawlClient`."""

    def events(self, run_id: str, since: int = START, *, limit: int | None = None, wait: int = 0) -> Page:
        """The events after the cursor `since`."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The server does not answer; the next of `tries` tries comes in `delay` seconds and goes on from `since`."""

    trouble: Trouble
    since: int
    tries: int
    delay: float


@dataclass(frozen=True, slots=True)
class Back:
    """The server answers again."""

    since: int


Notice = Callable[[Lost | Back], None]


def _keep_quiet(_news: Lost | Back) -> None:
    """Nobody wants to know."""


def follow(
    log: Log, run_id: str, since: int = START, *, pace: Pace | None = None, notice: Notice = _keep_quiet
) -> Iterator[Event]:
    """The events after `since`, each once and in order, until the run has ended.

    A server that goes away is waited for, as long as it takes. Raises `Trouble` for what no waiting mends.
    """
    pace = pace or Pace()
    cursor, wait, gaps = since, 0, 0
    while True:
        page = _read(log, run_id, cursor, wait, pace, notice)
        for event in _unbroken(page, cursor):
            cursor, gaps = event.seq, 0
            yield event
        if _gapes(page, cursor):
            gaps += 1
            _give_up_on_gap(run_id, cursor, gaps)
            pace.sleep(pace.delay(gaps))
        elif page.done:
            return
        else:
            wait = 0 if page.events else LONG_POLL
            _pause(page, pace)


def _read(log: Log, run_id: str, since: int, wait: int, pace: Pace, notice: Notice) -> Page:
    tries = 0
    while True:
        tries += 1
        try:
            # After trouble a plain answer is asked for: it comes at once, and shows that the server is back.
            page = log.events(run_id, since, wait=wait if tries == 1 else 0)
        except Trouble as trouble:
            if not trouble.transient:
                raise
            delay = pace.delay(tries, trouble.retry_after)
            notice(Lost(trouble, since, tries, delay))
            pace.sleep(delay)
        else:
            if tries > 1:
                notice(Back(since))
            return page


def _unbroken(page: Page, since: int) -> Iterator[Event]:
    """The events that follow the cursor without a hole; what was received before is dropped.

    A snapshot leaves none: it stands for every event up to its own seq.
    """
    last = since
    for event in page.events:
        if event.seq == last + 1 or (event.type == SNAPSHOT and event.seq > last):
            last = event.seq
            yield event


def _gapes(page: Page, cursor: int) -> bool:
    return any(event.seq > cursor for event in page.events)


def _give_up_on_gap(run_id: str, cursor: int, gaps: int) -> None:
    if gaps == GAP_TRIES:
        raise LogBroken(run_id, cursor + 1)


def _pause(page: Page, pace: Pace) -> None:
    if not page.has_more:
        pace.sleep(max(page.next_poll_ms / 1000, SHORTEST_PAUSE))
