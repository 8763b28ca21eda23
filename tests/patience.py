"""Waiting in real time, for what goes on in another process or on a thread that is not ours."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

GLANCE = 0.05


def await_true(condition: Callable[[], object], seconds: float) -> None:
    """Wait until the condition holds; fails after so many seconds."""
    glance, until = threading.Event(), time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"not within {seconds} s")
        glance.wait(GLANCE)
