"""What a run has done so far, as far as permissions ask for it: folded from its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from chalicelib.core.events import Event, EventType, Log
from chalicelib.core.tools import Mark


@dataclass(frozen=True, slots=True)
class Facts:
    """`made` counts the calls that were begun under each rule, by its text. `marks` is what results have brought in,
    `granted` the tools that a person has allowed for the rest of the run."""

    made: Mapping[str, int] = field(default_factory=dict)
    marks: frozenset[Mark] = frozenset()
    granted: frozenset[str] = frozenset()

    @property
    def leaks(self) -> bool:
        """Whether what is private has met what strangers wrote: from here on, they may be speaking."""
        return self.marks >= {Mark.PRIVATE, Mark.UNTRUSTED}


def facts(log: Log, *, without: str | None = None) -> Facts:
    """A call counts once, however often it was begun; it counts when it is begun, whatever becomes of it.

    `without` is the id of a call that does not count: one that is begun already and judged again.
    """
    started = [event for event in log if event.type is EventType.TOOL_STARTED and event.data["call_id"] != without]
    finished = [event for event in log if event.type is EventType.TOOL_FINISHED]
    over = {event.data["call_id"] for event in finished}
    brought = [*(event for event in started if event.data["call_id"] in over), *finished]
    marks = {Mark(mark) for event in brought for mark in event.data.get("marks", ())}
    counted = {(event.data["call_id"], line) for event in started for line in event.data.get("rule", "").splitlines()}
    made = Counter(line for _, line in counted)
    return Facts(made, frozenset(marks), frozenset(filter(None, map(_granted, log))))


def _granted(event: Event) -> str | None:
    grant = event.data.get("grant") if event.type is EventType.APPROVAL_RESOLVED else None
    return grant["tool"] if grant else None
