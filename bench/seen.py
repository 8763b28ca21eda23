"""What a client saw of a log, held against what stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """Counts of events: received, missing, doubled, and whether they came in order."""

    received: int
    missing: int
    doubled: int
    in_order: bool

    @property
    def whole(self) -> bool:
        """Each event once, in order."""
        return not self.missing and not self.doubled and self.in_order


def judged(seqs: Sequence[int], length: int) -> Seen:
    """What `seqs`, as they came, are of a log of that length."""
    once = set(seqs)
    return Seen(len(seqs), len(set(range(length)) - once), len(seqs) - len(once), list(seqs) == sorted(seqs))
