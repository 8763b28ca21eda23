"""How long a finished run and its log are kept, and what has to be so before any of it is deleted.

Nothing else deletes an event. A log that lost its tail would give a seq out twice; so the whole of it goes, from its
start on, after the archive stands, and hours after the last of its writers has died (a Lambda lives fifteen minutes).
A run that its account deletes goes whole, and after its writers too: nothing is left to give a seq out.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from chalicelib.core import snapshot
from chalicelib.core.cursor import START, unbroken
from chalicelib.core.events import Event, Log
from chalicelib.core.run import Run

ERASED_AFTER = timedelta(minutes=20)
"""Whoever had read the run before it was deleted is dead by then: a worker that was cut off, an archiver, a request."""


def is_old(run: Run, retention: timedelta, now: datetime) -> bool:
    """Whether the run has ended long enough ago to be archived, and is not archived yet."""
    if run.ended_at is None or run.archived_at or run.deleted_at:
        return False
    return run.ended_at + retention <= now


def may_archive(log: Log) -> bool:
    """Whether this is all of a log: from its start, without a hole, to its end."""
    return bool(log) and log[-1].ends and len(unbroken(log, START)) == len(log)


def may_delete(run: Run, archive: Event | None) -> bool:
    """Whether the run's events may go: it has ended, and the archive that stands has that end in it."""
    if archive is None or not run.status.terminal:
        return False
    return snapshot.end(archive) is not None and snapshot.status(archive) is run.status


def erase_at(run: Run) -> datetime | None:
    """When the run may be erased; None for one that was not deleted."""
    return run.deleted_at + ERASED_AFTER if run.deleted_at else None


def may_erase(run: Run, now: datetime) -> bool:
    """Whether nobody can write to the run any more, and it was asked to go."""
    at = erase_at(run)
    return at is not None and run.status.terminal and at <= now
