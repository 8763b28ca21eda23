"""What a run may use up, and whether it has."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.core import slots
from chalicelib.core.events import EventType, Log
from chalicelib.core.run import Budget

NOT_ITS_OWN_TIME = frozenset({"approval", "tool", "budget", slots.SLOT})
"""Waits that do not count as the run's own time: a person, somebody else's system, or another run is at it."""

_WAIT_BEGINS_OR_ENDS = frozenset({EventType.RUN_WAITING, EventType.RUN_RESUMED})


class Limit(StrEnum):
    STEPS = "steps"
    SECONDS = "seconds"


def out_of_time(budget: Budget, log: Log, now: datetime) -> bool:
    """Whether the run's wall time is used up."""
    return now >= time_is_up(budget, log, now)


def time_is_up(budget: Budget, log: Log, now: datetime) -> datetime:
    """When the wall time will be used up, if nobody but the run itself is waited for from `now` on."""
    began = next((event.at for event in log if event.type is EventType.RUN_STARTED), now)
    return began + timedelta(seconds=budget.seconds) + _waited_for_others(log, now)


def _waited_for_others(log: Log, now: datetime) -> timedelta:
    waited, since = timedelta(), None
    for event in log:
        if event.type not in _WAIT_BEGINS_OR_ENDS:
            continue
        waited += event.at - since if since is not None else timedelta()
        since = event.at if event.data.get("for") in NOT_ITS_OWN_TIME else None
    return waited + (now - since if since is not None else timedelta())


def out_of_steps(budget: Budget, step: int) -> bool:
    """Whether the run may not begin the step of this number, counted from one."""
    return step > budget.steps
