"""The minute's tick, for deleted runs: everything of them goes, some time after nobody sees them any more.

It can be broken off anywhere and begun again: the run itself goes last, and is looked at until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.core import retention
from chalicelib.core.run import Run
from chalicelib.ports.archive_store import ArchiveStore
from chalicelib.ports.clock import Clock
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.watch_store import WatchStore
from chalicelib.usecases.clear import LOOK_AGAIN, clear_all, delete_log
from chalicelib.usecases.tour import Tour

RUNS_PER_TICK = 50
EVENTS_PER_TICK = 1_000
"""At 10 ms each, a sixth of the tick's minute. What is left over is still listed at the next tick."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What a tick did: runs of which nothing is left, and events deleted."""

    runs: int
    events: int


def erase_deleted(
    *,
    archives: ArchiveStore,
    files: FileStore,
    watches: WatchStore,
    clock: Clock,
    most_runs: int = RUNS_PER_TICK,
    most_events: int = EVENTS_PER_TICK,
    until: datetime | None = None,
) -> Erased:
    """Erase the runs that were deleted long enough ago, the earliest first, until the time is up. Raises what went
    wrong, after each of them had its turn."""
    eraser = _Eraser(archives, files, watches, Tour("erase", clock=clock, until=until))
    due = (run for run in archives.deleted(clock.now(), most_runs) if retention.may_erase(run, clock.now()))
    later = clock.now() + LOOK_AGAIN
    return Erased(*clear_all(due, eraser.erase, most=most_events, later=later, archives=archives, tour=eraser.tour))


@dataclass(frozen=True, slots=True)
class _Eraser:
    archives: ArchiveStore
    files: FileStore
    watches: WatchStore
    tour: Tour

    def erase(self, run: Run, most: int) -> tuple[int, bool]:
        """How many of its events were deleted, at most so many, and whether nothing of the run is left."""
        gone, emptied = delete_log(run, most, self.archives, self.tour)
        if emptied:
            self._rest(run)
        return gone, emptied

    def _rest(self, run: Run) -> None:
        """Delete what is left of a run without events."""
        for watch in self.watches.of_run(run.run_id):
            self.watches.unsubscribe(watch.connection_id, run.run_id)
        self.files.delete_of_run(run.run_id)
        self.archives.delete_payloads(run.run_id)
        self.archives.delete_archive(run.run_id)
        self.archives.delete_run(run.run_id)
