"""What a writer makes of an event that stands where it wanted to write. DESIGN sections 2 and 11.

The same judgement binds for events that were read: reading and colliding differ only in how one learned of them.
"""

from __future__ import annotations

from enum import Enum, auto

from chalicelib.core.events import OUTSIDE, Event, EventType


class Verdict(Enum):
    """What follows for the writer."""

    OURS = auto()
    """The write had worked, its answer was lost: a success."""
    ENDED = auto()
    """The run is over: stop."""
    FENCED = auto()
    """Another attempt writes here, or a twin of this one: stop."""
    CANCELLING = auto()
    """Begin nothing more; write down what is known already, then confirm."""
    NEWS = auto()
    """Take it in and decide again."""


def judge(found: Event, write_id: str | None = None) -> Verdict:
    """Judge `found`, met by a worker that was writing under `write_id` (None: it was only reading).

    The write id is compared first and alone decides what is one's own: the own attempt number with an unknown write id
    is a twin, a second invocation of the same slice.
    """
    if found.write_id == write_id:
        return Verdict.OURS
    if found.ends:
        return Verdict.ENDED
    if found.attempt != OUTSIDE:
        return Verdict.FENCED
    if found.type is EventType.RUN_CANCELLING:
        return Verdict.CANCELLING
    return Verdict.NEWS
