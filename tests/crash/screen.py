"""What a client has on its screen of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chalicelib.core.events import EventType


def shown(seen: Iterable[Mapping[str, Any]]) -> str:
    """The text of the events of the API: deltas, less what a reset took back."""
    parts: dict[int, str] = {}
    for event in seen:
        if event["type"] == EventType.TEXT_DELTA:
            parts[event["seq"]] = event["data"]["text"]
        elif event["type"] == EventType.STEP_RESET:
            parts = {seq: part for seq, part in parts.items() if seq < event["data"]["from_seq"]}
    return "".join(parts.values())
