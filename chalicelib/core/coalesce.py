"""When streamed text is written down: never an item a token. A batch is one write unit (1 KB) whatever it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

WATCHED = timedelta(milliseconds=200)
UNWATCHED = timedelta(seconds=2)
FULL = 640
"""Bytes of text in a batch: with its key and its other attributes the item stays below 1 KB."""


@dataclass(slots=True)
class Batch:
    """Text on its way into the log. The first piece of a model call goes out at once: it is the first token."""

    wrote: bool = False
    _parts: list[str] = field(default_factory=list)
    _size: int = 0
    _since: datetime | None = None

    def add(self, text: str, now: datetime) -> None:
        """Take in a piece that came at `now`."""
        self._parts.append(text)
        self._size += len(text.encode())
        self._since = self._since or now

    def due(self, *, watched: bool) -> datetime | None:
        """When the batch is to be written; None while it is empty."""
        if self._since is None:
            return None
        if not self.wrote or self._size >= FULL:
            return self._since
        return self._since + (WATCHED if watched else UNWATCHED)

    def take(self) -> str:
        """The text, which leaves the batch."""
        text = "".join(self._parts)
        self._parts, self._size, self._since, self.wrote = [], 0, None, True
        return text
