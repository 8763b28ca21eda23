"""Server-Sent Events as they come over the wire, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# A CR that stands last may be the first half of a CR LF: it waits for the next piece.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_NUMBER = re.compile(rb"[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Frame:
    """What stood between two empty lines. `retry` in milliseconds; None is what was not there."""

    data: str | None = None
    id: str | None = None
    retry: int | None = None


def data(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, once it is whole. Pieces may end anywhere, in the middle of a character too."""
    return (frame.data for frame in frames(pieces) if frame.data is not None)


def frames(pieces: Iterable[bytes]) -> Iterator[Frame]:
    """Each frame, once it is whole: also those that carry no data, but say from where to go on."""
    held: list[bytes] = []
    for line in _lines(pieces):
        if line:
            held += [] if line.startswith(b":") else [line]
        elif held:
            yield _frame(held)
            held = []


def _frame(lines: list[bytes]) -> Frame:
    said: dict[bytes, list[bytes]] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        said.setdefault(name, []).append(value.removeprefix(b" "))
    text = b"\n".join(said[b"data"]).decode(errors="replace") if b"data" in said else None
    ids = [each for each in said.get(b"id", ()) if b"\0" not in each]
    retries = [each for each in said.get(b"retry", ()) if _NUMBER.fullmatch(each)]
    return Frame(text, ids[-1].decode(errors="replace") if ids else None, int(retries[-1]) if retries else None)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    # What a line has begun with is kept in parts: a long one that comes in small pieces is not copied with each.
    begun: list[bytes] = []
    for piece in pieces:
        if begun and begun[-1].endswith(b"\r"):
            piece = begun.pop() + piece
        first, *others = _LINE_END.split(piece)
        begun.append(first)
        if others:
            *whole, rest = others
            yield b"".join(begun)
            yield from whole
            begun = [rest]
    last = b"".join(begun)
    if last.endswith(b"\r"):
        yield last[:-1]
