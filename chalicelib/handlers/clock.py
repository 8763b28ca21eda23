"""The minute's tick."""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from chalicelib import bootstrap
from chalicelib.usecases.archive import archive_old
from chalicelib.usecases.erase import erase_deleted
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import tend

log = logging.getLogger(__name__)


def tick(event: dict[str, Any], context: Any) -> None:
    """Put back whatever was left lying, and look after the slots; then archive what is old, erase what was deleted."""
    world = bootstrap.world()
    swept = sweep(runs=world.runs, slots=world.slots, workflow=world.workflow, clock=world.clock, chance=world.chance)
    log.info("swept", extra={"action": "tick", **asdict(swept)})
    tended = tend(runs=world.runs, slots=world.slots, workflow=world.workflow, clock=world.clock)
    log.info("slots tended", extra={"action": "tick", **asdict(tended)})
    archived = archive_old(
        runs=world.runs,
        archives=world.archives,
        clock=world.clock,
        keep_for=timedelta(hours=world.config.retention_hours),
    )
    log.info("archived", extra={"action": "tick", **asdict(archived)})
    erased = erase_deleted(archives=world.archives, files=world.files, watches=world.watches, clock=world.clock)
    log.info("erased", extra={"action": "tick", **asdict(erased)})
