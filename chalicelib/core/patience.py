"""What follows when a provider fails: another call soon, a wait without a Lambda, or the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from chalicelib.core.errors import ModelFault, ModelRefused, ModelUnavailable
from chalicelib.core.events import EventType, Log

PROVIDER = "provider"
"""What a run waits for whose model is down."""

CALLS_IN_A_ROW = 3
FIRST_PAUSE = timedelta(seconds=1)
FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Again:
    """Make the call again after `pause`, in the same hold on the run."""

    pause: timedelta


@dataclass(frozen=True, slots=True)
class Wait:
    """Give the run back for so long; nothing runs meanwhile."""

    lasting: timedelta


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The same request would fail for ever."""


def after(fault: ModelFault, log: Log) -> Again | Wait | GiveUp:
    """Judge a failed model call. The log counts: the calls in a row of this step, and the waits that it has cost."""
    if isinstance(fault, ModelRefused):
        return GiveUp()
    asked = fault.retry_after if isinstance(fault, ModelUnavailable) else None
    in_a_row, waits = _calls_in_a_row(log), _waits(log)
    pause = max(FIRST_PAUSE * 2 ** (in_a_row - 1), timedelta(seconds=asked or 0))
    if in_a_row < CALLS_IN_A_ROW and pause < FIRST_WAIT:
        return Again(pause)
    return Wait(min(max(FIRST_WAIT * 2**waits, pause), LONGEST_WAIT))


_BEGINS_CALL = frozenset({EventType.STEP_STARTED, EventType.STEP_RESET})


def _calls_in_a_row(log: Log) -> int:
    """The model calls begun since the step did, or since its last wait was over."""
    count = 0
    for event in reversed(log):
        if event.type in _BEGINS_CALL:
            count += 1
        if event.type in (EventType.STEP_STARTED, EventType.RUN_RESUMED):
            break
    return count


def _waits(log: Log) -> int:
    """The waits for the provider in the current step."""
    count = 0
    for event in reversed(log):
        if event.type is EventType.STEP_STARTED:
            break
        count += event.type is EventType.RUN_WAITING and event.data["for"] == PROVIDER
    return count
