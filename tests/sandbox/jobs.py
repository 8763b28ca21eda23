"""Jobs for tests, and the walls that they are run behind."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.sandbox.choosing import WALLS, sandbox_here
from chalicelib.adapters.sandbox.proving import ProvenSandbox
from chalicelib.adapters.system import SystemClock
from chalicelib.core.code import CodeJob, CodeLimits

CLOCK = SystemClock()

each_wall = pytest.mark.parametrize("wall", [*WALLS])


def sandbox(wall: str) -> ProvenSandbox:
    """One for all tests of a wall: it has to prove itself once."""
    return _SANDBOXES.setdefault(wall, sandbox_here(wall, CLOCK))


_SANDBOXES: dict[str, ProvenSandbox] = {}


def a_job(
    code: str,
    *,
    files: Mapping[str, bytes] | None = None,
    stop: threading.Event | None = None,
    seconds: float = 30,
    hosts: tuple[str, ...] = (),
    **limits: Any,
) -> CodeJob:
    return CodeJob(
        code=code,
        tenant="acme:run_1",
        deadline=CLOCK.now() + timedelta(seconds=seconds),
        stop=stop or threading.Event(),
        files=files or {},
        hosts=hosts,
        limits=CodeLimits(**limits),
    )
