"""What a call of the sandbox costs beyond the code itself: `python -m bench.sandbox`."""

from __future__ import annotations

import statistics
import threading
import time
from datetime import timedelta

from chalicelib.adapters.sandbox.choosing import WALLS, sandbox_here
from chalicelib.adapters.system import SystemClock
from chalicelib.core.code import CodeJob

CALLS = 20


def milliseconds(wall: str) -> list[float]:
    """Of calls of code that does nothing, the proof before them apart."""
    clock = SystemClock()
    sandbox = sandbox_here(wall, clock)
    sandbox.wall()
    job = CodeJob("", "bench:run", clock.now() + timedelta(minutes=10), threading.Event())
    took = []
    for _ in range(CALLS):
        began = time.monotonic()
        assert sandbox.run(job).exit == 0
        took.append((time.monotonic() - began) * 1000)
    return took


if __name__ == "__main__":
    for wall in WALLS:
        took = milliseconds(wall)
        print(f"{wall:<11} median {statistics.median(took):4.0f} ms, from {min(took):4.0f} to {max(took):4.0f}")
