"""The minute's tick."""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from chalicelib import bootstrap
from chalicelib.bootstrap import World
from chalicelib.usecases.archive import archive_old
from chalicelib.usecases.erase import erase_deleted
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import tend
from chalicelib.usecases.tour import Tour

MARGIN = timedelta(seconds=10)
"""What the jobs leave of an invocation: for what the last of them is in the middle of, and its retries."""

log = logging.getLogger(__name__)


def tick(event: dict[str, Any], context: Any) -> None:
    """Put back whatever was left lying, and look after the slots; then archive what is old, erase what was deleted.

    None of these keeps the others from their turn, neither by a fault nor by the time that it takes: each has an equal
    share of what is left, and what it has not come to is due at the next tick. Raises what went wrong, at the end.
    """
    world = bootstrap.world()
    jobs = (_sweep, _tend, _archive, _erase)
    tour = Tour("tick", clock=world.clock)
    ends_at = world.clock.now() + timedelta(milliseconds=context.get_remaining_time_in_millis()) - MARGIN
    for turn, job in enumerate(jobs):
        now = world.clock.now()
        tour.alone(partial(job, world, now + (ends_at - now) / (len(jobs) - turn)), job=job.__name__.strip("_"))
    tour.end()


def _sweep(world: World, until: datetime) -> None:
    swept = sweep(
        runs=world.runs,
        slots=world.slots,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
        until=until,
    )
    log.info("swept", extra={"action": "tick", **asdict(swept)})


def _tend(world: World, until: datetime) -> None:
    tended = tend(runs=world.runs, slots=world.slots, workflow=world.workflow, clock=world.clock, until=until)
    log.info("slots tended", extra={"action": "tick", **asdict(tended)})


def _archive(world: World, until: datetime) -> None:
    archived = archive_old(
        runs=world.runs,
        archives=world.archives,
        clock=world.clock,
        keep_for=timedelta(hours=world.config.retention_hours),
        until=until,
    )
    log.info("archived", extra={"action": "tick", **asdict(archived)})


def _erase(world: World, until: datetime) -> None:
    erased = erase_deleted(
        archives=world.archives, files=world.files, watches=world.watches, clock=world.clock, until=until
    )
    log.info("erased", extra={"action": "tick", **asdict(erased)})
