"""The minute's tick, for deleted runs: everything of them goes, some time after nobody sees them any more.

It can be broken off anywhere and begun again: the run itself goes last, and is looked at until then.
"""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.core import retention
from chalicelib.core.run import Run
from chalicelib.ports.archive_store import ArchiveStore
from chalicelib.ports.clock import Clock
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.watch_store import WatchStore
from chalicelib.usecases.archive import delete_log

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
) -> Erased:
    """Erase the runs that were deleted long enough ago, the earliest first."""
    erased = deleted = 0
    for run in archives.deleted(clock.now(), most_runs):
        if deleted >= most_events:
            break
        if not retention.may_erase(run, clock.now()):
            continue
        gone, emptied = delete_log(run, most_events - deleted, archives)
        deleted += gone
        if emptied:
            _erase(run, archives, files, watches)
            erased += 1
    return Erased(erased, deleted)


def _erase(run: Run, archives: ArchiveStore, files: FileStore, watches: WatchStore) -> None:
    """Delete what is left of a run without events."""
    for watch in watches.of_run(run.run_id):
        watches.unsubscribe(watch.connection_id, run.run_id)
    files.delete_of_run(run.run_id)
    archives.delete_payloads(run.run_id)
    archives.delete_archive(run.run_id)
    archives.delete_run(run.run_id)
