"""A run's events after a cursor, held back a while if there are none yet."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.core import cursor, snapshot, watching
from chalicelib.core.account import no_such_run
from chalicelib.core.cursor import Answer, NoAnswer
from chalicelib.core.errors import InvalidInput, PayloadMissing, Unavailable
from chalicelib.core.run import Run
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import Page, RunStore

LOOK_EVERY = 0.5
"""Seconds between two looks of a poll that is held."""

log = logging.getLogger(__name__)


def read_events(
    run_id: str,
    since: int,
    limit: int,
    wait: int,
    *,
    account_id: str,
    runs: RunStore,
    clock: Clock,
    replay_cap: int | None = None,
    strong: bool = False,
) -> Answer:
    """At most `limit` events after the cursor `since`; an empty answer is held for up to `wait` seconds.

    In the place of a log that is archived, and of more than `replay_cap` events, there is one snapshot. Raises
    `NotFound`, and `InvalidInput` for a cursor that is ahead of the log. `strong`: nothing that was written before the
    call is missed.
    """
    until = clock.now() + timedelta(seconds=wait)
    reader = _Reader(run_id, min(since, cursor.HIGHEST), limit, account_id, runs, replay_cap, strong)
    while True:
        answer, run = reader.look()
        if run is not None:
            _stamp(run, runs, clock)
        left = (until - clock.now()).total_seconds()
        if answer.events or answer.done or left <= 0:
            return answer
        clock.sleep(min(LOOK_EVERY, left))


@dataclass(frozen=True, slots=True)
class _Reader:
    run_id: str
    since: int
    limit: int
    account_id: str
    runs: RunStore
    replay_cap: int | None
    strong: bool

    def look(self) -> tuple[Answer, Run | None]:
        """One Query; more only where it leaves a doubt, the log is archived, or the page was full."""
        page = self._page(strong=self.strong)
        found = self._judge(page, strong=self.strong) if page.account_id else NoAnswer.READ_AGAIN
        if found is NoAnswer.READ_AGAIN:
            page = self._page(strong=True)
            found = self._judge(page, strong=True)
        if page.account_id != self.account_id:
            raise no_such_run()
        tail = self._tail(page)
        if found is NoAnswer.HOLE or _may_be_archived(page):
            found = self._archived() or found
        elif isinstance(found, Answer):
            found = self._caught_up(tail) or found
        return self._told(found), page.run

    def _page(self, *, strong: bool) -> Page:
        return self.runs.page(self.run_id, self.since, self.limit, strong=strong)

    def _judge(self, page: Page, *, strong: bool) -> Answer | NoAnswer:
        return cursor.answer(self.since, page.events, page.run, strong=strong)

    def _archived(self) -> Answer | NoAnswer | None:
        """What the archive answers, which stands for the whole log; None if there is none."""
        archive = self.runs.archive(self.run_id)
        return snapshot.answer(self.since, archive) if archive else None

    def _tail(self, page: Page) -> int:
        """The seq of the tail, read if the page did not reach the run. Raises `NotFound` if the run was deleted."""
        if page.run is not None:
            return page.events[-1].seq if page.events else self.since
        found = self.runs.tail(self.run_id)
        if found is None:
            raise no_such_run()
        return found[1].seq

    def _caught_up(self, tail: int) -> Answer | NoAnswer | None:
        """A snapshot of the log as it stands, if its tail is further away than the cap; None if it is not, or if a part
        of the log is gone: what is left of it is then paged through."""
        if self.replay_cap is None or tail - self.since <= self.replay_cap:
            return None
        try:
            _, log = self.runs.log(self.run_id)
        except PayloadMissing:
            return None
        return snapshot.answer(self.since, snapshot.fold(self.run_id, log)) if log else None

    def _told(self, found: Answer | NoAnswer) -> Answer:
        match found:
            case NoAnswer.AHEAD:
                detail = "the cursor is ahead of the log"
                raise InvalidInput("since_ahead_of_log", detail, field="since", expected="the seq of a received event")
            case NoAnswer():
                raise Unavailable(f"the log of {self.run_id} can't be read without a hole behind {self.since}")
            case Answer():
                return found


def _may_be_archived(page: Page) -> bool:
    """Whether a run has ended and the read met nothing of its log."""
    return page.run is not None and page.run.status.terminal and not page.events


def _stamp(run: Run, runs: RunStore, clock: Clock) -> None:
    """Tell the run's worker that somebody follows. The poll is answered either way: text comes slower, that is all."""
    until = watching.stamp_due(run, clock.now())
    if until is None:
        return
    try:
        runs.stamp_watched(run.run_id, until)
    except Unavailable:
        log.warning("watch stamp refused", extra={"action": "read_events", "run_id": run.run_id})
