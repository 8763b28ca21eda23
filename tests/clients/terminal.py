"""The command line as a person has it (a pseudo-terminal) and as a script has it (pipes): real processes both."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

COMMAND = (sys.executable, "-m", "pawl_client")
LONGEST = 30
"""Seconds after which a command that hangs is a failed test."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Shown:
    """What a terminal was sent. `text` is without the control sequences."""

    raw: str
    code: int

    @property
    def text(self) -> str:
        return _CONTROL.sub("", self.raw).replace("\r", "")


def environment(url: str, **more: str) -> dict[str, str]:
    """An environment with nothing in it that colours or configures by the back door."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    places = os.pathsep.join(path for path in sys.path if path)
    given = {"PAWL_URL": url, "PAWL_KEY": "pawl_k", "TERM": "xterm-256color", "COLUMNS": "100", "LANG": "C.UTF-8"}
    return {**kept, "PYTHONPATH": places, **given, **more}


def piped(args: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run `pawl` with pipes for its output."""
    return subprocess.run([*COMMAND, *args], env=env, capture_output=True, text=True, timeout=LONGEST, check=False)


def on_terminal(
    args: Sequence[str],
    env: Mapping[str, str],
    interrupt_at: str | None = None,
    at: tuple[str, Callable[[], object]] | None = None,
    typed: str = "",
) -> Shown:
    """Run `pawl` on a terminal where `typed` has been typed ahead; press Ctrl-C once `interrupt_at` can be read there,
    and once the first of `at` can, do what the second does."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *args], env=env, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b""
        while chunk := _read(ours):
            shown += chunk
            if interrupt_at and interrupt_at in shown.decode(errors="ignore"):
                process.send_signal(signal.SIGINT)
                interrupt_at = None
            if at and at[0] in shown.decode(errors="ignore"):
                at[1]()
                at = None
        code = process.wait(LONGEST)
    os.close(ours)
    return Shown(shown.decode(), code)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        # Linux answers EIO when nobody has the other side open any more.
        return b""
