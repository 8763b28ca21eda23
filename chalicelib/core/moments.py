"""How a time is spelled wherever a caller may read it: ISO 8601 in UTC, to the millisecond."""

from __future__ import annotations

from datetime import UTC, datetime


def spelled(at: datetime) -> str:
    """The time as text; `datetime.fromisoformat` reads it again, less what was below a millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
