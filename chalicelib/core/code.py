"""Code to be run in a sandbox: what goes in, what it may use up, what comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chalicelib.core.tools import Stop

MOST_INPUT = 4 << 20
"""Bytes of code and files together: as base64 they fit a Lambda's request, and the laptop takes no more than AWS."""

MOST_FILES = 32

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}")
_PATH = re.compile(rf"{_NAME.pattern}(/{_NAME.pattern}){{0,7}}")


class Limit(StrEnum):
    """What ended a run of code, or what of its outcome did not fit."""

    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"
    OUTPUT = "output"
    FILES = "files"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class CodeLimits:
    """`memory`, `disk`, `output` (stdout and stderr together), `file_bytes` (all files out) in bytes; `cpu`, `wall` in
    seconds. Processes have no limit of their own: there is one, and it can't make another."""

    memory: int = 256 << 20
    cpu: int = 5
    wall: float = 30.0
    disk: int = 64 << 20
    output: int = 1 << 20
    files_out: int = MOST_FILES
    file_bytes: int = 3 << 20


@dataclass(frozen=True, slots=True)
class CodeJob:
    """Python to be run once. It finds `files` read-only in the folder `in`, and leaves what it makes in `out`.

    `tenant` names the run for which it works; `hosts` are the ones that it may reach. It ends at the `deadline` or with
    the wall limit, whichever comes first, and as soon as `stop` is set. Raises ValueError for what can't be given in.
    """

    code: str
    tenant: str
    deadline: datetime
    stop: Stop
    files: Mapping[str, bytes] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    limits: CodeLimits = CodeLimits()

    def __post_init__(self) -> None:
        unfit = [name for name in self.files if not _NAME.fullmatch(name)]
        if unfit:
            raise ValueError(f"{unfit[0][:100]!r} can't be the name of a file")
        if len(self.files) > MOST_FILES:
            raise ValueError(f"{len(self.files)} files are more than {MOST_FILES}")
        size = len(self.code.encode("utf-8", "surrogatepass")) + sum(map(len, self.files.values()))
        if size > MOST_INPUT:
            raise ValueError(f"code and files have {size} bytes, and may have {MOST_INPUT}")


@dataclass(frozen=True, slots=True)
class CodeResult:
    """How it ended. `exit` is None where it was ended; `limit` says why, or what of the output or files did not fit.

    `files` are what it left in `out`, by their path there, `dropped` how many more there were; `cut` is whether output
    is missing; `seconds` is the time it all took, start of the sandbox included.
    """

    exit: int | None
    stdout: str
    stderr: str
    backend: str
    seconds: float
    files: Mapping[str, bytes] = field(default_factory=dict)
    dropped: int = 0
    cut: bool = False
    limit: Limit | None = None


def is_file_path(path: str) -> bool:
    """Whether a file out may be called so: a short relative path of plain names, at most eight deep."""
    return _PATH.fullmatch(path) is not None
