"""What the table's stream tells of: that logs went on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chalicelib.core.announcement import Announcement


@dataclass(frozen=True, slots=True)
class Written:
    """An event came into a run's log. What it says is for the log to tell."""

    run_id: str
    seq: int


class Stream(Protocol):
    def written(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Written]:
        """What the records of one invocation tell of, in their order."""

    def announced(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Announcement]:
        """What of it is to be told to whoever has not asked, in their order."""
