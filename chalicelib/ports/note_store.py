"""The notes of accounts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.note import Note


class NoteStore(Protocol):
    """Reads are strong: what was written is there."""

    def write(self, account_id: str, note: Note) -> None:
        """Keep the note, in the place of one of that name."""

    def read(self, account_id: str, name: str) -> Note | None:
        """The account's note of that name."""

    def all(self, account_id: str, limit: int) -> Sequence[Note]:
        """The account's notes in the order of their names, at most so many."""

    def delete(self, account_id: str, name: str) -> None:
        """Delete the note, if it is there."""
