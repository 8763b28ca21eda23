"""So does chance."""

from __future__ import annotations

from typing import Protocol


class Chance(Protocol):
    def bytes(self, count: int) -> bytes:
        """`count` unpredictable bytes."""

    def write_id(self) -> str:
        """A name for one write, never given twice."""
