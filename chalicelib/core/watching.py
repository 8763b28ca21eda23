"""Whether somebody follows a run: a stamp with a time on it, which polls renew and the writer of its text reads."""

from __future__ import annotations

from datetime import datetime, timedelta

from chalicelib.core.run import Run

COUNTS_FOR = timedelta(seconds=15)
RENEWED_EVERY = timedelta(seconds=10)


def watched(run: Run, now: datetime) -> bool:
    """Whether somebody may be assumed to follow the run's text."""
    return run.watched_until is not None and now < run.watched_until


def stamp_due(run: Run, now: datetime) -> datetime | None:
    """The stamp that a poll at `now` owes; None if the last one is young enough, or nothing more will come."""
    if run.status.terminal:
        return None
    until = now + COUNTS_FOR
    young = run.watched_until is not None and until - run.watched_until < RENEWED_EVERY
    return None if young else until
