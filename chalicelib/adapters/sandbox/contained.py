"""One run of code behind one wall: its folder, its process group, its report, and what becomes of them."""

from __future__ import annotations

import marshal
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from chalicelib.adapters.sandbox import report
from chalicelib.adapters.sandbox.folder import Folder, folder_for, sandbox_user
from chalicelib.adapters.sandbox.interpreter import Interpreter, interpreter
from chalicelib.adapters.sandbox.process import Ended, Group, Watch
from chalicelib.core.code import CodeJob, CodeLimits, CodeResult, Limit
from chalicelib.core.errors import SandboxUnavailable
from chalicelib.ports.clock import Clock

ENVIRONMENT = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""The second and third keep numpy, and C's allocator, within the limit on address space."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is started: its command, given the report's file descriptor, and its environment. What is watched
    meanwhile, and what stands beside it."""

    command: Callable[[int], list[str]]
    env: Mapping[str, str]
    watch: Watch = lambda told: None
    beside: AbstractContextManager[object] = field(default_factory=nullcontext)


class Wall(Protocol):
    """A way to contain code on this machine."""

    @property
    def name(self) -> str: ...

    def identity(self) -> tuple[object, ...]:
        """What the wall is made of: another identity has to prove itself anew. Raises `SandboxUnavailable`."""

    def plan(self, folder: Folder, job: CodeJob, python: Interpreter) -> Plan:
        """How to run the job behind it. Raises `SandboxUnavailable`."""


def shim_config(limits: CodeLimits, fd: int, **places: Any) -> str:
    """What the shim is told: the limits, and by `places` where it is."""
    told = {
        "report": fd,
        "memory": limits.memory,
        "cpu": limits.cpu,
        "disk": limits.disk,
        "files": limits.files_out,
        "file_bytes": limits.file_bytes,
        "filter": "must",
        "landlock": None,
        "egress": None,
        "parent": None,
        "uid": None,
    }
    # Of the oldest kind, which every Python reads.
    return marshal.dumps({**told, **places}, 0).hex()


def run_contained(wall: Wall, job: CodeJob, clock: Clock) -> CodeResult:
    """Run the job behind that wall. Raises `SandboxUnavailable` if it does not stand."""
    began, limits = time.monotonic(), job.limits
    left = (job.deadline - clock.now()).total_seconds()
    user = sandbox_user()
    try:
        with folder_for(job) as folder:
            plan = wall.plan(folder, job, interpreter(user))
            with plan.beside:
                ended = Group(plan.command, plan.env, user).watch(
                    output=limits.output,
                    report=report.most(limits),
                    seconds=min(limits.wall, left),
                    stop=job.stop,
                    watch=plan.watch,
                )
    except OSError as fault:
        raise SandboxUnavailable(f"{wall.name}: {fault}") from fault
    return _result(wall, ended, limits, time.monotonic() - began)


def _result(wall: Wall, ended: Ended, limits: CodeLimits, seconds: float) -> CodeResult:
    told = report.read(ended.report, limits)
    if told.refused is not None and ended.limit is None:
        said = ended.err.decode(errors="replace").strip()[:300]
        raise SandboxUnavailable(f"{wall.name}: {told.refused}{f' ({said})' if said else ''}")
    return CodeResult(
        exit=None if ended.limit else told.exit,
        stdout=ended.out.decode(errors="replace"),
        stderr=ended.err.decode(errors="replace"),
        backend=wall.name,
        seconds=seconds,
        files=told.files,
        dropped=told.dropped,
        cut=ended.cut,
        limit=ended.limit or told.limit or _what_is_missing(ended, told),
    )


def _what_is_missing(ended: Ended, told: report.Report) -> Limit | None:
    if ended.cut:
        return Limit.OUTPUT
    return Limit.FILES if told.dropped else None
