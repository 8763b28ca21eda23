"""A local cloud in a process of its own, on a port that it keeps; it can be killed and started again."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from pathlib import Path

from chalicelib import bootstrap
from chalicelib.adapters.system import SystemClock
from infra.local import development_key
from infra.local.cloud import LocalCloud
from infra.local.gateway import listen
from infra.local.packaged import options

ROOT = Path(__file__).parents[2]
UP = "up"
AWAY = 45
"""Seconds for which the server seems to have been away after a restart: a lease that it had given out has lapsed."""


class LaterClock(SystemClock):
    """The system's clock, so many seconds ahead."""

    def __init__(self, seconds: int) -> None:
        self._ahead = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return super().now() + self._ahead


class Stage:
    """The process, seen from the tests."""

    def __init__(self, directory: Path, model_url: str) -> None:
        self._directory = directory
        self._environment = {"PYTHONPATH": str(ROOT), "PAWL_MODEL_URL": model_url, "PAWL_MODEL_NAME": "gpt-test"}
        self._process: subprocess.Popen[str] | None = None
        with listen(0) as listener:
            self._port: int = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def start(self, ahead: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.console.stage", str(self._port), str(ahead)],
            cwd=self._directory,
            env={**os.environ, **self._environment},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        assert said == f"{UP}\n", said

    def kill(self) -> None:
        """As a power cut does it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("ahead", type=int)
    asked = parser.parse_args()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    key, data, clock = Path("key"), Path("data"), LaterClock(asked.ahead)
    with LocalCloud(options(os.environ, port=asked.port, data=data, console_key=key, clock=clock)):
        development_key.provide(key, bootstrap.world())
        print(UP, flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
