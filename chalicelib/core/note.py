"""A note: a small text that runs of an account leave for one another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MAX_NAME = 64
"""Characters."""
MAX_TEXT = 10_000
"""Characters."""
MAX_LISTED = 200
"""Names in one list."""


@dataclass(frozen=True, slots=True)
class Note:
    """`untrusted`: whoever wrote it had read what strangers wrote, and so may pass their words on."""

    name: str
    text: str
    written_at: datetime
    untrusted: bool
