"""The event bus on which teams build."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.announcement import Announcement


class Announcer(Protocol):
    def announce(self, told: Sequence[Announcement]) -> None:
        """Put them on the bus. Raises `Unavailable` if one of them may not have got there."""
