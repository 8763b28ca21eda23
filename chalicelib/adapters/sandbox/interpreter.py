"""The Python that runs the code: ours without its virtualenv, or the system's where ours is out of the code's reach."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chalicelib.core.errors import SandboxUnavailable

SYSTEM = "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The binary, and the folder in which its libraries lie."""

    binary: str
    prefix: str

    def command(self, program: str, config: str) -> list[str]:
        """How the shim is started; `program` is the zip with the package `inside`.

        Isolated from the environment and without `site`: nothing of the host's configuration is read.
        """
        start = f"import sys; sys.path.insert(0, {program!r}); from inside.shim import main; del sys.path[0]; main()"
        return [self.binary, "-I", "-S", "-B", "-X", "utf8", "-c", start, config]


@cache
def interpreter(user: int | None) -> Interpreter:
    """One that `user` may start. Raises `SandboxUnavailable`."""
    ours = Interpreter(os.path.realpath(sys.executable), os.path.realpath(sys.base_prefix))
    for each in (ours, Interpreter(os.path.realpath(SYSTEM), "/usr")):
        if Path(each.binary).parent.exists() and _starts(each, user):
            return each
    raise SandboxUnavailable(
        f"no Python that uid {user} could start: run as an ordinary user, or install Python where everyone can read it"
    )


def _starts(each: Interpreter, user: int | None) -> bool:
    as_user = {} if user is None else {"user": user, "group": user, "extra_groups": ()}
    try:
        done = subprocess.run(
            [each.binary, "-I", "-S", "-c", "import ctypes"],
            env={},
            cwd="/",
            capture_output=True,
            check=False,
            **as_user,  # type: ignore[call-overload]
        )
    except OSError:
        return False
    return bool(done.returncode == 0)
