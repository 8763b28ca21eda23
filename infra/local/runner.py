"""One Lambda environment, as a process: `python -m infra.local.runner HANDLER FD`.

Reads an invocation a line from its input and answers each with a line on the descriptor: a function may print what it
likes. Its input ends when the local cloud does, and so does it.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import timedelta
from typing import Any

from chalicelib import bootstrap
from chalicelib.adapters.system import SystemClock
from chalicelib.ports.clock import Clock
from infra.local.functions import LambdaContext, call, resolve
from infra.local.speed import VARIABLE, FastTime


def main() -> None:
    """Serve invocations until the input ends."""
    name, descriptor = sys.argv[1:]
    handler, clock = resolve(name), _clock()
    with os.fdopen(int(descriptor), "w") as answers:
        for line in sys.stdin:
            asked: dict[str, Any] = json.loads(line)
            deadline = clock.now() + timedelta(seconds=asked["context"].pop("seconds"))
            outcome = call(handler, asked["event"], LambdaContext(**asked["context"], deadline=deadline, clock=clock))
            sys.stdout.flush()
            answers.write(json.dumps({"payload": outcome.payload, "failed": outcome.failed}) + "\n")
            answers.flush()


def _clock() -> Clock:
    """The machine's, or the fast one that the local cloud runs by; then the function's own world has it too."""
    if VARIABLE not in os.environ:
        return SystemClock()
    time = FastTime.read(os.environ[VARIABLE])
    world = bootstrap.world()
    world.clock, world.crew = time, time
    return time


if __name__ == "__main__":
    main()
