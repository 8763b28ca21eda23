"""Runs jobs behind one wall, in a process that may be anybody's: it needs the standard library and the sandbox alone.

It takes batches of jobs on stdin, the jobs of a batch side by side, and answers with all their results.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from chalicelib.adapters.sandbox.choosing import sandbox_here
from chalicelib.adapters.system import SystemClock
from chalicelib.core.code import CodeJob, CodeLimits

SIDE_BY_SIDE = 3


def main() -> None:
    asked = json.load(sys.stdin)
    clock = SystemClock()
    sandbox = sandbox_here(asked["wall"], clock)

    def run(job: dict[str, Any]) -> dict[str, Any]:
        result = sandbox.run(
            CodeJob(
                code=job["code"],
                tenant="acme:run",
                deadline=clock.now() + timedelta(seconds=60),
                stop=threading.Event(),
                files={name: content.encode() for name, content in job["files"].items()},
                limits=CodeLimits(**job["limits"]),
            )
        )
        told = {
            name: getattr(result, name) for name in ("exit", "stdout", "stderr", "backend", "cut", "limit", "dropped")
        }
        return {**told, "files": {name: base64.b64encode(each).decode() for name, each in result.files.items()}}

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        print(json.dumps([list(pool.map(run, batch)) for batch in asked["batches"]]))


if __name__ == "__main__":
    main()
