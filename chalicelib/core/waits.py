"""How long a call may be open that the runtime does not make itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from chalicelib.core.tools import Answers, ToolSpec

LONGEST = timedelta(days=30)
"""An execution of Step Functions lasts a year at most; no run sleeps longer than this at a time."""
_TOO_LONG = 2 * LONGEST


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
    """The time that the arguments name, within what a calendar has room for: none before now, none far beyond what a
    wait may last."""
    ahead = _ahead(args, now)
    return None if ahead is None else now + max(timedelta(), min(ahead, _TOO_LONG))


def _ahead(args: Mapping[str, Any], now: datetime) -> timedelta | None:
    if isinstance(seconds := args.get("seconds"), int | float) and not isinstance(seconds, bool):
        # Not a number is neither less nor more than anything.
        return timedelta(seconds=max(0, min(seconds, _TOO_LONG.total_seconds()))) if seconds == seconds else None
    try:
        until = datetime.fromisoformat(str(args.get("until")))
    except ValueError:
        return None
    # A difference has room for any two times; one that is moved to another zone may leave the calendar.
    return until - now if until.tzinfo else None
