"""What goes out by a WebSocket: events in bundles that fit into a frame, and in parts where one alone does not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LARGEST = 32_000
"""Bytes. API Gateway takes 32 KB for a frame, and for one message on the bill."""

PART = 15_000
"""Characters in a part. As a string inside JSON each of them may take two bytes."""

_AROUND = 200
"""Bytes of a bundle that are not events."""

Told = Mapping[str, Any]


def bundles(run_id: str, told: Sequence[Told], *, done: bool) -> list[str]:
    """The events of a run, as clients are told of them, in order; `done`: the last of them is the last ever.

    An event that is larger than a frame comes in parts, whose texts make a bundle when they are put together.
    """
    fitting = [*_fitting(told)] or [[]]
    ends = [False] * (len(fitting) - 1) + [done]
    return [frame for events, end in zip(fitting, ends, strict=True) for frame in _frames(run_id, events, done=end)]


def _fitting(told: Sequence[Told]) -> Iterator[list[Told]]:
    """The events, as many together as fit; one at least."""
    room, together = LARGEST - _AROUND, list[Told]()
    for each in told:
        size = len(_json(each)) + 1
        if together and size > room:
            yield together
            room, together = LARGEST - _AROUND, []
        together.append(each)
        room -= size
    if together:
        yield together


def _frames(run_id: str, events: Sequence[Told], *, done: bool) -> list[str]:
    whole = _json({"type": "events", "run_id": run_id, "done": done, "events": events})
    if len(whole) <= LARGEST:
        return [whole]
    pieces = [whole[start : start + PART] for start in range(0, len(whole), PART)]
    about = {"type": "part", "run_id": run_id, "seq": events[0]["seq"], "parts": len(pieces)}
    return [_json({**about, "part": number, "text": piece}) for number, piece in enumerate(pieces)]


def _json(value: object) -> str:
    """In ASCII: as many bytes as characters."""
    return json.dumps(value, separators=(",", ":"))
