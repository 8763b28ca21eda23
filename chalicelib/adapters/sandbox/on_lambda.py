"""The function that runs code on AWS. Its machine is the wall: one for each run, with no permission and no way out.

Within it the code still wears as much of the lock as the kernel there takes. What it may have left is removed before
and after: the machine is used again, for the same run.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from chalicelib.adapters.sandbox import wire
from chalicelib.adapters.sandbox.contained import Plan, run_contained
from chalicelib.adapters.sandbox.folder import Folder, raze
from chalicelib.adapters.sandbox.inside import landlock
from chalicelib.adapters.sandbox.interpreter import Interpreter
from chalicelib.adapters.sandbox.landlocked import plan_on_host
from chalicelib.adapters.system import SystemClock
from chalicelib.core.code import CodeJob
from chalicelib.core.errors import SandboxUnavailable

TO_ANSWER = 3.0
"""Seconds that are kept for killing, packing and answering."""

_SET_DUMPABLE = 4


class Context(Protocol):
    def get_remaining_time_in_millis(self) -> int: ...


class Machine:
    """A machine of its own, whose kernel is not ours to choose: what it does not have of Landlock and of filters, it
    does without."""

    name = "lambda"

    def identity(self) -> tuple[object, ...]:
        return (self.name,)

    def plan(self, folder: Folder, job: CodeJob, python: Interpreter) -> Plan:
        restricted = landlock.abi() >= landlock.LEAST_ABI
        return plan_on_host(folder, job, python, restricted=restricted, filter="try")


def handler(event: Any, context: Context) -> dict[str, str]:
    """Run one job. The answer is a packed result, or says in `refused` why there is none."""
    # The role's keys stand in this process's environment: they are of no use, and nobody's to read.
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    clock = SystemClock()
    left = context.get_remaining_time_in_millis() / 1000 - TO_ANSWER
    _clear()
    try:
        job = wire.event_job(event, deadline=clock.now() + timedelta(seconds=left), stop=threading.Event())
        return wire.told_result(run_contained(Machine(), job, clock))
    except SandboxUnavailable as fault:
        return {"refused": str(fault)}
    finally:
        _clear()


def _clear() -> None:
    """Remove whatever lies in the one folder that can be written. On any other machine that would be a disaster."""
    if "AWS_LAMBDA_FUNCTION_NAME" not in os.environ:
        raise RuntimeError("this handler is for Lambda only")
    top = Path(tempfile.gettempdir())
    for name in os.listdir(top):
        path = top / name
        if path.is_dir() and not path.is_symlink():
            raze(path)
        else:
            path.unlink()
