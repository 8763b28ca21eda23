"""The local cloud as a process of its own, which can be killed, and started again on its data."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

import httpx

from tests.patience import await_true

ROOT = Path(__file__).parents[2]


class Laptop:
    """Serves on one port for as long as it lives, however often it is killed.

    At a speed of 3 a lease of 30 s lapses in 10: fast enough for a test, and slow enough for two cores.
    """

    def __init__(
        self, folder: Path, model_url: str, *flags: str, speed: int = 3, module: str = "infra.local", quiet: bool = True
    ) -> None:
        self.folder = folder
        self.speed = speed
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._flags = (*flags, "--quiet") if quiet else flags
        self._module = module
        self._key = folder / ".pawl" / "key"
        self._env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PAWL_MODEL_URL": model_url,
            "PAWL_MODEL_NAME": "test",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def log(self) -> str:
        """What it has printed, and if it is not `quiet` what its Lambdas have; two lines may stand in one."""
        return (self.folder / "log").read_text()

    @property
    def key(self) -> str:
        return self._key.read_text().strip()

    def start(self) -> None:
        """Start it, and wait until it answers and has left its key."""
        command = [sys.executable, "-m", self._module, "--port", str(self.port), "--data", "data"]
        speed = ["--speed", str(self.speed), *self._flags]
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [*command, *speed], cwd=self.folder, env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        await_true(self._answers, seconds=60)

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def workers(self) -> list[int]:
        """The processes in which `advance` runs, or waits for its next invocation."""
        assert self._process is not None
        return [pid for pid in _children(self._process.pid) if b"app.advance" in _command(pid)]

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the local cloud ended: {(self.folder / 'log').read_text()[-2000:]}")
        try:
            healthy = httpx.get(f"{self.url}/healthz", trust_env=False, timeout=2).status_code == 200
            return healthy and self._key.exists()
        except httpx.TransportError:
            return False


def strike(pid: int, number: signal.Signals) -> None:
    """Send the signal, unless the process has ended by itself."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(parent: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has ended meanwhile
            children += map(int, (task / "children").read_text().split())
    return children


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""
