"""The tool that lets time pass. Nobody makes its calls: the run waits, and no worker with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.adapters.tools.toolbox import Look, Tool, ToolProblem
from chalicelib.core import waits
from chalicelib.core.tools import Answers, Effect, Invocation, ToolSpec
from chalicelib.ports.clock import Clock

SPEC = ToolSpec(
    name="wait_until",
    description=(
        f"Waits for a time or for some seconds, at most {waits.LONGEST.days} days, and costs nothing meanwhile. "
        "A time that has passed is no wait."
    ),
    parameters={
        "type": "object",
        "properties": {
            "until": {
                "type": "string",
                "format": "date-time",
                "description": "ISO 8601 with its offset, for instance 2026-07-14T09:00:00+02:00.",
            },
            "seconds": {"type": "number", "minimum": 0, "maximum": waits.LONGEST.total_seconds()},
        },
        "additionalProperties": False,
    },
    effect=Effect.READ,
    open_world=False,
    answers=Answers.TIME,
)


def wait_until() -> Tool:
    """The tool."""

    def never(invocation: Invocation) -> str:
        raise ToolProblem("A wait is ended by the time alone.")

    return SPEC, never


def look(clock: Clock) -> Look:
    """No field of a wait is judged; what is checked is how long it lasts from now."""

    def looked(args: Mapping[str, Any]) -> Mapping[str, Any]:
        if len(args) != 1:
            raise ToolProblem("Name either until or seconds.")
        if (problem := waits.problem(args, clock.now())) is not None:
            raise ToolProblem(problem)
        return {}

    return looked
