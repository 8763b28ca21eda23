"""The states of the agent loop, and what Step Functions tells of an execution that ended badly."""

from __future__ import annotations

import logging
from typing import Any

from chalicelib import bootstrap
from chalicelib.core import ids
from chalicelib.usecases import abandon as settle
from chalicelib.usecases import advance as take
from chalicelib.usecases import await_answer as keep
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.work import Needs, Slice

log = logging.getLogger(__name__)


def advance(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """One slice of the run's work; the answer is the execution's next state."""
    world = bootstrap.world()
    needs = Needs(
        runs=world.runs,
        slots=world.slots,
        agents=world.agents,
        workflow=world.workflow,
        model=world.model,
        toolboxes=world.toolboxes,
        policies=world.policies,
        clock=world.clock,
        chance=world.chance,
        crew=world.crew,
    )
    seconds = context.get_remaining_time_in_millis() / 1000
    run_id, start, lap = event["run_id"], event["start"], event["lap"]
    route = take.advance(run_id, start, lap, Slice(seconds, world.config.steps_per_slice), needs=needs)
    return {"run_id": run_id, "start": start, "lap": lap + 1, "next": route.next, "seconds": route.seconds}


def await_answer(event: dict[str, Any], context: Any) -> None:
    """Keep the token of a wait."""
    world = bootstrap.world()
    keep.await_answer(event["run_id"], event["start"], event["token"], runs=world.runs, workflow=world.workflow)


def abandon(event: dict[str, Any], context: Any) -> None:
    """Settle the run of an execution that gives up."""
    world = bootstrap.world()
    run_id, start, error = event["run_id"], event["start"], event["error"]
    log.error(
        "an execution gives up: %s",
        error["Error"],
        extra={"action": "abandon", "run_id": run_id, "start": start, "cause": error.get("Cause")},
    )
    settle.abandon(
        run_id,
        start,
        error["Error"],
        runs=world.runs,
        slots=world.slots,
        workflow=world.workflow,
        clock=world.clock,
        chance=world.chance,
    )


def execution_ended(event: dict[str, Any], context: Any) -> None:
    """Put back the run of an execution that failed, was stopped or timed out."""
    name = event["detail"]["name"]
    named = ids.read_execution_name(name)
    if named is None:
        log.warning("an execution that is no run's: %s", name, extra={"action": "execution_ended"})
        return
    world = bootstrap.world()
    put_back(*named, runs=world.runs, workflow=world.workflow, clock=world.clock)
