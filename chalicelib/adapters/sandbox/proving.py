"""A wall has to prove itself before code is run behind it: a probe tries to get out, and has to fail at every point.

What a wall has proved is remembered in this process and nowhere else: a file could be forged, or outlive the machine
that it tells of. And it counts for what the wall was made of then: another bwrap, kernel or user, another proof.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
from collections.abc import Sequence
from datetime import timedelta

from chalicelib.adapters.sandbox.contained import ENVIRONMENT, Wall, run_contained
from chalicelib.core.code import CodeJob, CodeResult
from chalicelib.core.errors import SandboxUnavailable
from chalicelib.ports.clock import Clock

logger = logging.getLogger(__name__)

SECONDS = 10.0

WHAT_TO_DO = (
    "code can be contained on Linux only, with bubblewrap or Landlock: run Pawl in a Linux machine or container"
)

ENV_OF_CODE = {*ENVIRONMENT, "PATH", "HOME", "TMPDIR", "PWD"}

PROBE = """
import glob, json, os, socket, sqlite3, threading

def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False

def routed():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("192.0.2.1", 9))

def environs():
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path) as file:
                yield from (line.partition("=")[0] for line in file.read().split(chr(0)) if line)
        except OSError:
            pass

def threads_work():
    seen = []
    one = threading.Thread(target=seen.append, args=(1,))
    one.start()
    one.join()
    return seen == [1]

sqlite3.connect("probe.db").execute("create table one (x)")
os.makedirs("out", exist_ok=True)
open("out/made", "w").write(open("in/given").read())
print(json.dumps({
    "root": 0 not in os.getresuid(),
    "no network": refused(routed),
    "passwd": refused(lambda: open("/etc/passwd").close()),
    "the first process": all(refused(lambda: open(f"/proc/{pid}/mem").close()) for pid in (1, os.getppid())),
    "canary": refused(lambda: open("CANARY").close()),
    "environment": sorted({*os.environ, *environs()}),
    "no process": refused(os.fork),
    "no program": refused(lambda: os.execv("/bin/true", ["true"])),
    "read-only": refused(lambda: open("/written", "w")) and refused(lambda: open(os.__file__, "a")),
    "threads": threads_work(),
}))
"""


class ProvenSandbox:
    """The first of `walls` that stands. Raises `SandboxUnavailable` with what each of them lacks if none does."""

    def __init__(self, walls: Sequence[Wall], clock: Clock) -> None:
        self._walls = walls
        self._clock = clock
        self._proven: dict[str, tuple[object, ...]] = {}
        self._lock = threading.Lock()

    def run(self, job: CodeJob) -> CodeResult:
        return run_contained(self.wall(), job, self._clock)

    def wall(self) -> Wall:
        """The wall that code is run behind, proved if it has not been yet."""
        lacks: list[str] = []
        with self._lock:
            for wall in self._walls:
                try:
                    self._prove(wall)
                except SandboxUnavailable as fault:
                    logger.warning("sandbox not to be used: %s", fault)
                    lacks.append(str(fault))
                else:
                    return wall
        raise SandboxUnavailable("; ".join(lacks) or WHAT_TO_DO)

    def _prove(self, wall: Wall) -> None:
        identity = wall.identity()
        if self._proven.get(wall.name) != identity:
            self._proven.pop(wall.name, None)
            prove(wall, self._clock)
            self._proven[wall.name] = identity


def prove(wall: Wall, clock: Clock) -> None:
    """Try to get out of it. Raises `SandboxUnavailable` that names what did not hold."""
    with tempfile.NamedTemporaryFile(prefix="pawl-canary-") as canary:
        # So that it is the wall that keeps it from being read, and nothing else.
        os.chmod(canary.name, 0o644)
        probe = CodeJob(
            code=PROBE.replace("CANARY", canary.name),
            tenant="probe",
            deadline=clock.now() + timedelta(seconds=SECONDS),
            stop=threading.Event(),
            files={"given": b"given"},
        )
        result = run_contained(wall, probe, clock)
    failed = _failed(result)
    if failed:
        raise SandboxUnavailable(f"{wall.name}: its self-test failed at {', '.join(failed)}")


def _failed(result: CodeResult) -> list[str]:
    try:
        found = json.loads(result.stdout)
    except ValueError:
        return [f"the start: {result.stderr.strip()[-200:] or result.limit}"]
    unknown = set(found.pop("environment")) - ENV_OF_CODE
    failed = [name for name, held in found.items() if held is not True]
    if unknown:
        failed.append(f"the environment ({', '.join(sorted(unknown))})")
    if (result.exit, dict(result.files)) != (0, {"made": b"given"}):
        failed.append("files in and out")
    return failed
