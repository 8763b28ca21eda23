"""Write what comes from outside into a run's log, whoever holds the run, and wake what waits for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from chalicelib.core.account import owned
from chalicelib.core.change import Change
from chalicelib.core.errors import Race, Unavailable
from chalicelib.core.events import OUTSIDE, Event, Log, Stamp
from chalicelib.core.run import Run, Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.wake import wake

TRIES = 10
"""Looks at the run; whoever works on it may come in between."""

Decide = Callable[[Run, Log, Stamp], Change | Event]
"""What is to be written, or what stands already and says the same. Raises a `Refusal` for what contradicts it."""


def put_answer(
    run_id: str, decide: Decide, *, account_id: str, runs: RunStore, workflow: Workflow, clock: Clock, chance: Chance
) -> Event:
    """The answer as it stands in the log. It was decided on what was read: whatever comes in between decides anew."""
    for _ in range(TRIES):
        found, log = runs.log(run_id)
        run = owned(found, account_id)
        answer = decide(run, log, Stamp(clock.now(), OUTSIDE, chance.write_id()))
        if isinstance(answer, Event):
            return answer
        with contextlib.suppress(Race):
            _write(answer, runs)
            if run.status is Status.WAITING:
                wake(run_id, runs=runs, workflow=workflow)
            return answer.event
    raise Unavailable(f"{run_id} moved on {TRIES} times while it was being answered")


def _write(change: Change, runs: RunStore) -> None:
    """What changes nothing of the run is an append like any other: the next seq is its condition."""
    if change.after == change.before:
        runs.append(change.before, change.event)
    else:
        runs.commit(change)
