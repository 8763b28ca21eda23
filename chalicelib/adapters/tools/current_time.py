"""The built-in tool that does no harm: what time it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from chalicelib.adapters.tools.toolbox import Tool, ToolProblem
from chalicelib.core.tools import Effect, Invocation, ToolSpec
from chalicelib.ports.clock import Clock

SPEC = ToolSpec(
    name="current_time",
    description="Tells the current date and time in a timezone.",
    parameters={
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "description": "The IANA name, for instance Europe/Paris or Asia/Tokyo."}
        },
        "additionalProperties": False,
    },
    effect=Effect.READ,
    timeout=5.0,
    open_world=False,
)


def current_time(clock: Clock) -> Tool:
    """The tool, on that clock."""

    def tell(invocation: Invocation) -> str:
        zone = _zone(invocation.call.args)
        here = clock.now().astimezone(zone)
        return f"{here:%A}, {here.isoformat(timespec='seconds')} ({zone.key})"

    return SPEC, tell


def _zone(args: Mapping[str, Any]) -> ZoneInfo:
    unknown = [name for name in args if name != "timezone"]
    if unknown:
        raise ToolProblem(f"current_time takes only timezone, not {unknown[0][:80]!r}.")
    name = args.get("timezone", "UTC")
    if not isinstance(name, str):
        raise ToolProblem("timezone must be a string, an IANA name such as Europe/Paris.")
    try:
        return ZoneInfo(name)
    # A name can also be that of a directory of the time zone database, or lead out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ToolProblem(f"{name[:80]!r} is no IANA time zone; they look like Europe/Paris.") from None
