"""The minute's tick, for old runs: what happened is kept as one archive, and the events go.

It can be broken off anywhere and begun again: the archive stands before the first event goes, the events go from the
start of the log on, and the run is looked at until all of it is gone.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.core import retention, snapshot
from chalicelib.core.errors import PayloadMissing
from chalicelib.core.run import Run
from chalicelib.ports.archive_store import ArchiveStore
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.usecases.clear import LOOK_AGAIN, clear_all, delete_log
from chalicelib.usecases.tour import Tour

RUNS_PER_TICK = 100
EVENTS_PER_TICK = 2_500
"""At 10 ms each, deleting them takes half of the tick's minute. What is left over is still old at the next tick."""

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
    until: datetime | None = None,
) -> Archived:
    """Archive the runs that ended longer than `keep_for` ago, the oldest first, until the time is up. Raises what went
    wrong, after each of them had its turn."""
    archiver = _Archiver(runs, archives, clock, Tour("archive", clock=clock, until=until))
    ended_until = clock.now() - keep_for
    due = (run for run in archives.old(ended_until, most_runs) if retention.is_old(run, keep_for, clock.now()))
    later = ended_until + LOOK_AGAIN
    return Archived(
        *clear_all(due, archiver.archive, most=most_events, later=later, archives=archives, tour=archiver.tour)
    )


@dataclass(frozen=True, slots=True)
class _Archiver:
    runs: RunStore
    archives: ArchiveStore
    clock: Clock
    tour: Tour

    def archive(self, run: Run, most: int) -> tuple[int, bool] | None:
        """How many of its events were deleted, at most so many, and whether it is archived now; None if it can't be."""
        if not _stands(run, self.runs, self.archives):
            _complain(run.run_id, self.runs)
            return None
        gone, emptied = delete_log(run, most, self.archives, self.tour)
        if emptied:
            self.archives.delete_payloads(run.run_id)
            self.archives.close(run, self.clock.now())
        return gone, emptied


def _complain(run_id: str, runs: RunStore) -> None:
    found = runs.look_up(run_id)
    if found is not None and found.deleted_at is None:
        log.error("not archived: its log is not whole", extra={"action": "archive", "run_id": run_id})


def _stands(run: Run, runs: RunStore, archives: ArchiveStore) -> bool:
    """Whether the run's archive is there, and may stand for its log; it is made if need be."""
    try:
        if runs.archive(run.run_id) is None:
            _, events = runs.log(run.run_id)
            if retention.may_archive(events):
                archives.keep(run, snapshot.fold(run.run_id, events))
        return retention.may_delete(run, runs.archive(run.run_id))
    except PayloadMissing:
        return False
