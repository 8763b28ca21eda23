"""Which of a long line of crash points are tried: all of them in `make crash`, every third in `make test`, beginning
anywhere. CRASH_SEED repeats the beginning."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator

SEED = int(os.environ.get("CRASH_SEED", time.time_ns() % 100_000))
STRIDE = 1 if os.environ.get("CRASH_POINTS") == "all" else 3


def points() -> Iterator[int]:
    """The numbers of calls to die at, counted from one, without an end."""
    return itertools.count(1 + SEED % STRIDE, STRIDE)
