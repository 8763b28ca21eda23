"""Server-Sent Events as they come over the wire, taken apart; only the data is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# A CR that stands last may be the first half of a CR LF: it waits for the next piece.
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")


def data(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, once it is whole. Pieces may end anywhere, in the middle of a character too."""
    held: list[str] = []
    for line in _lines(pieces):
        if line.startswith(b"data:"):
            held.append(line[5:].removeprefix(b" ").decode(errors="replace"))
        elif not line and held:
            yield "\n".join(held)
            held = []


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = _LINE_END.split(rest + piece)
        yield from whole
    if rest.endswith(b"\r"):
        yield rest[:-1]
