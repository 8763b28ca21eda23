"""The minute's tick, for old runs: what happened is kept as one archive, and the events go.

It can be broken off anywhere and begun again: the archive stands before the first event goes, the events go from the
start of the log on, and the run is looked at until all of it is gone.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.core import retention, snapshot
from chalicelib.core.run import Run
from chalicelib.ports.archive_store import ArchiveStore
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore

RUNS_PER_TICK = 100
EVENTS_PER_TICK = 2_500
"""At 10 ms each, deleting them takes half of the tick's minute. What is left over is still old at the next tick."""

PAGE = 25

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Archived:
    """What a tick did: runs that are archived now, and events deleted."""

    runs: int
    events: int


def archive_old(
    *,
    runs: RunStore,
    archives: ArchiveStore,
    clock: Clock,
    keep_for: timedelta,
    most_runs: int = RUNS_PER_TICK,
    most_events: int = EVENTS_PER_TICK,
) -> Archived:
    """Archive the runs that ended longer than `keep_for` ago, the oldest first."""
    archived = deleted = 0
    for run in archives.old(clock.now() - keep_for, most_runs):
        if deleted >= most_events:
            break
        if not retention.is_old(run, keep_for, clock.now()):
            continue
        if not _stands(run, runs, archives):
            _complain(run.run_id, runs)
            continue
        gone, emptied = delete_log(run, most_events - deleted, archives)
        deleted += gone
        if emptied:
            archives.delete_payloads(run.run_id)
            archives.close(run, clock.now())
            archived += 1
    return Archived(archived, deleted)


def _complain(run_id: str, runs: RunStore) -> None:
    found = runs.look_up(run_id)
    if found is not None and found.deleted_at is None:
        log.error("not archived: its log is not whole", extra={"action": "archive", "run_id": run_id})


def _stands(run: Run, runs: RunStore, archives: ArchiveStore) -> bool:
    """Whether the run's archive is there, and may stand for its log; it is made if need be."""
    if runs.archive(run.run_id) is None:
        _, events = runs.log(run.run_id)
        if retention.may_archive(events):
            archives.keep(run, snapshot.fold(run.run_id, events))
    return retention.may_delete(run, runs.archive(run.run_id))


def delete_log(run: Run, most: int, archives: ArchiveStore) -> tuple[int, bool]:
    """Delete at most so many events; how many that were, and whether none is left."""
    deleted = 0
    while deleted < most:
        page = min(PAGE, most - deleted)
        gone = archives.delete_events(run.run_id, page)
        deleted += gone
        if gone < page:
            return deleted, True
    return deleted, False
