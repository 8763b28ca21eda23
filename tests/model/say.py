"""Somebody outside says something to the run: the writer that answers waits, and adds messages to runs that work.

The rules of answering stand in `core.answer`; this is the shortest use of them that keeps DESIGN 11.4.
"""

from __future__ import annotations

from chalicelib.core import answer
from chalicelib.core.change import record
from chalicelib.core.errors import Race
from chalicelib.core.events import OUTSIDE, Event, EventType, Stamp
from chalicelib.core.run import Run, Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.workflow import Workflow

TRIES = 10


def say(text: str, run_id: str, *, runs: RunStore, workflow: Workflow, clock: Clock, chance: Chance) -> bool:
    """Put the message into the log, and wake who waits for it; whether the run took it."""
    for _ in range(TRIES):
        found = runs.tail(run_id)
        if found is None or found[1].ends or found[0].status in (Status.CANCELLING, Status.CANCELLED):
            return False
        if found[0].status is not Status.WAITING and found[1].type is EventType.RUN_WAITING:
            continue  # The run was read before its wait, the event after it.
        stamp = Stamp(clock.now(), OUTSIDE, chance.write_id())
        try:
            write(text, found[0], found[1], stamp, runs)
        except Race:
            continue
        if found[0].status is Status.WAITING:
            wake(run_id, runs, workflow)
        return True
    return False


def write(text: str, run: Run, last: Event, stamp: Stamp, runs: RunStore) -> None:
    """A waiting run is answered in one transaction with its event, any other gets the event alone."""
    data = {"text": text}
    if run.status is Status.WAITING:
        runs.commit(answer.answer(run, EventType.MESSAGE_ADDED, data, tail=last.seq, stamp=stamp))
    else:
        runs.append(run, record(EventType.MESSAGE_ADDED, data, tail=last.seq, stamp=stamp))


def wake(run_id: str, runs: RunStore, workflow: Workflow) -> None:
    """The token is read strongly after the answer was written."""
    found = runs.tail(run_id)
    if found is not None and found[0].token is not None:
        workflow.wake(found[0].token)
