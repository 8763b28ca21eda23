"""A client, as far as the text goes: deltas are put together, a reset takes back, a snapshot says it all."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core import snapshot
from chalicelib.core.events import Event, EventType


def folded(events: Iterable[Event]) -> str:
    """The text that a client shows after these events."""
    shown: list[tuple[int, int, str]] = []
    for event in events:
        match event.type:
            case EventType.TEXT_DELTA:
                shown.append((event.seq, event.data["step"], event.data["text"]))
            case EventType.STEP_RESET:
                void = (event.data["step"], event.data["from_seq"])
                shown = [piece for piece in shown if piece[1] != void[0] or piece[0] < void[1]]
            case EventType.SNAPSHOT:
                shown = [(event.seq, 0, snapshot.text(event))]
    return "".join(text for _, _, text in shown)
