"""How long a call may be open that the runtime does not make itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.core.tools import Answers, ToolSpec

LONGEST = timedelta(days=30)
"""An execution of Step Functions lasts a year at most; no run sleeps longer than this at a time."""


def ends_at(spec: ToolSpec, args: Mapping[str, Any], now: datetime) -> datetime:
    """When a call that is begun now ends by itself: after the tool's time, or at the one that its arguments name."""
    if spec.answers is Answers.TIME:
        return _named(args, now) or now
    return now + spec.lasting


def problem(args: Mapping[str, Any], now: datetime) -> str | None:
    """What is wrong with the arguments of a wait, in a sentence for the model."""
    named = _named(args, now)
    if named is None:
        return "Name either `seconds` from now, or `until` as an ISO 8601 time with its offset."
    return f"A wait lasts at most {LONGEST.days} days." if named - now > LONGEST else None


def _named(args: Mapping[str, Any], now: datetime) -> datetime | None:
    if isinstance(seconds := args.get("seconds"), int | float) and not isinstance(seconds, bool):
        return now + timedelta(seconds=max(0.0, min(float(seconds), 1e9)))
    try:
        until = datetime.fromisoformat(str(args.get("until")))
    except ValueError:
        return None
    return until.astimezone(UTC) if until.tzinfo else None
