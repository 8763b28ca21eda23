"""Whether a run still gets anywhere: an agent that asks the same and is told the same, again and again, does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from chalicelib.core import ids
from chalicelib.core.events import SETTLES_CALL, Event, EventType, Log

MAX_REPEATS = 5
"""So many steps in a row with the same calls and the same answers are enough. Every run has this limit."""


def repeats(run_id: str, log: Log) -> int:
    """How many of the last steps, in a row, asked for the same calls and were answered the same.

    A message begins the count anew, and so does a call with other arguments: whoever waits for something by asking for
    the time is not standing still.
    """
    recent = _since_last_message(log)
    outcomes = {ids.asked_call_id(event.data["call_id"]): event for event in recent if event.type in SETTLES_CALL}
    rounds = [_round(run_id, event, outcomes) for event in recent if event.type is EventType.MODEL_REPLIED]
    if not rounds or not rounds[-1]:
        return 0
    return sum(1 for _ in takewhile(lambda round: round == rounds[-1], reversed(rounds)))


def _since_last_message(log: Log) -> list[Event]:
    later = list(takewhile(lambda event: event.type is not EventType.MESSAGE_ADDED, reversed(log)))
    return later[::-1]


def _round(run_id: str, reply: Event, outcomes: Mapping[str, Event]) -> list[tuple[str, str, str]]:
    """Each call of a step: its name, its arguments, and what came of it."""
    step, calls = int(reply.data["step"]), reply.data["tool_calls"]
    return [
        (call["name"], _spelled(call["args"]), _outcome(outcomes.get(ids.call_id(run_id, step, index))))
        for index, call in enumerate(calls)
    ]


def _outcome(event: Event | None) -> str:
    return _spelled([event.type, event.data.get("ok"), event.data.get("content")]) if event else ""


def _spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
