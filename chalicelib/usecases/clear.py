"""What archiving and erasing have in common: runs whose log is to go, one after the other, so many events in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial

from chalicelib.core.run import Run
from chalicelib.ports.archive_store import ArchiveStore
from chalicelib.usecases.tour import Tour

PAGE = 25

LOOK_AGAIN = timedelta(hours=1)
"""After so long a run is tried again that could not be cleared. Until then it is in nobody's way."""

Clear = Callable[[Run, int], tuple[int, bool] | None]
"""Clears a run of at most so many events: how many these were, and whether it is through; None if it can't be done."""


def clear_all(
    due: Iterable[Run], clear: Clear, *, most: int, later: datetime, archives: ArchiveStore, tour: Tour
) -> tuple[int, int]:
    """How many runs are through, and how many events were deleted, `most` of them. What can't be cleared is due again
    `later`. Raises what went wrong, after each of them had its turn."""
    through = deleted = 0
    for run in tour.past(due):
        if deleted >= most:
            break
        done = tour.alone(partial(clear, run, most - deleted), run_id=run.run_id)
        if done is None:
            tour.alone(partial(archives.put_off, run, later), run_id=run.run_id)
            continue
        deleted += done[0]
        through += done[1]
    tour.end()
    return through, deleted


def delete_log(run: Run, most: int, archives: ArchiveStore, tour: Tour) -> tuple[int, bool]:
    """Delete at most so many events, as long as the tour has time; how many that were, and whether none is left."""
    deleted = 0
    while deleted < most and not tour.over:
        page = min(PAGE, most - deleted)
        gone = archives.delete_events(run.run_id, page)
        deleted += gone
        if gone < page:
            return deleted, True
    return deleted, False
