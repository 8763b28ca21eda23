"""Calls of tools as the gateway hands them on."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from chalicelib.core.reply import ToolCall
from chalicelib.core.tools import Invocation

DEADLINE = datetime(2026, 1, 1, tzinfo=UTC)
RUN_ID = "run_00000000000000000000000001"


def a_call(name: str, args: Mapping[str, Any] | None = None, malformed: str | None = None) -> ToolCall:
    """The first call of a run's first step."""
    return ToolCall(f"{RUN_ID}-1-0", name, args or {}, malformed)


def an_invocation(
    name: str, args: Mapping[str, Any] | None = None, *, deadline: datetime = DEADLINE, **more: Any
) -> Invocation:
    """Its invocation, wanted and permitted whatever it asks for."""
    given: dict[str, Any] = {"stop": threading.Event(), "permits": lambda fields: True, "marks": frozenset(), **more}
    return Invocation(RUN_ID, "acme", a_call(name, args), deadline, **given)
