"""Frames on their way: made once for all watchers of a run, kept for a while, sent in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chalicelib.core import cursor, sse
from chalicelib.core.cursor import Answer
from chalicelib.core.events import EventType
from chalicelib.handlers import http_shapes

CHUNK = 4096
"""Bytes; frames are put together up to that much. A larger one goes alone: no frame is ever cut."""

KEPT = 2_000_000
"""Bytes of frames that are kept for the watchers of a run: more than the largest page, so that none is read in vain."""


class Frame(NamedTuple):
    """`ends`: nothing follows it, ever. A snapshot stands for other events than its seq alone, and is not kept."""

    seq: int
    text: bytes
    ends: bool
    keeps: bool


class Chunk(NamedTuple):
    """What goes out in one write; `last` is the cursor after it. Without text, there was nothing new."""

    text: bytes
    last: int
    over: bool


def made(answer: Answer) -> list[Frame]:
    """The frames of what a read delivers."""
    return [
        Frame(
            event.seq,
            sse.frame(http_shapes.event(event)).encode(),
            answer.done and event.seq == answer.next_since,
            event.type is not EventType.SNAPSHOT,
        )
        for event in answer.events
    ]


def first_chunk(frames: Iterable[Frame]) -> Chunk | None:
    """As many of the frames as fit, and one at least; None if there is none."""
    taken: list[Frame] = []
    room = CHUNK
    for frame in frames:
        room -= len(frame.text)
        if taken and room < 0:
            break
        taken.append(frame)
    if not taken:
        return None
    return Chunk(b"".join(frame.text for frame in taken), taken[-1].seq, taken[-1].ends)


class Shelf:
    """The frames of one log that were made last. However long the log grows, the shelf does not."""

    def __init__(self) -> None:
        self._frames: dict[int, Frame] = {}
        self._size = 0

    def put(self, frames: Iterable[Frame]) -> None:
        for frame in frames:
            if frame.keeps and frame.seq not in self._frames:
                self._frames[frame.seq] = frame
                self._size += len(frame.text)
        while self._size > KEPT:
            oldest = next(iter(self._frames))
            self._size -= len(self._frames.pop(oldest).text)

    def after(self, seq: int) -> Iterator[Frame]:
        """The frames behind that seq, up to the first one that is not here."""
        while (found := self._frames.get(cursor.following(seq))) is not None:
            yield found
            seq = found.seq
