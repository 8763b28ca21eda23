"""Landlock: for machines whose users may not make namespaces. Code can tell that the host's files are there, and opens
none.

There is no disk to give it one of; its folder is on the host's, and is watched.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from chalicelib.adapters.sandbox import report
from chalicelib.adapters.sandbox.contained import ENVIRONMENT, Plan, shim_config
from chalicelib.adapters.sandbox.folder import Folder, sandbox_user
from chalicelib.adapters.sandbox.inside import landlock
from chalicelib.adapters.sandbox.interpreter import Interpreter
from chalicelib.core.code import CodeJob, Limit
from chalicelib.core.errors import SandboxUnavailable

MOST_ENTRIES = 4096
"""Files and folders that code may make."""

_READABLE = ("/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/ssl/certs")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_BLOCK = 512
DEEPEST = 64


class Landlock:
    name = "landlock"

    def identity(self) -> tuple[object, ...]:
        found = landlock.abi() if sys.platform == "linux" else 0
        if found < landlock.LEAST_ABI:
            raise SandboxUnavailable(f"{self.name}: this kernel's is version {found}, {landlock.LEAST_ABI} is needed")
        return (found, os.geteuid(), os.uname())

    def plan(self, folder: Folder, job: CodeJob, python: Interpreter) -> Plan:
        if job.hosts:
            raise SandboxUnavailable(f"{self.name}: it can't reach the approved hosts and no other; bubblewrap can")
        return plan_on_host(folder, job, python, restricted=True)


def plan_on_host(folder: Folder, job: CodeJob, python: Interpreter, *, restricted: bool, **told: Any) -> Plan:
    """How to run the job where the host's files are in sight; `restricted`: out of reach, by Landlock. `told` goes to
    the shim."""
    work, user = str(folder.work), sandbox_user()
    os.symlink(folder.given, folder.work / "in")
    landlock_rules = _rules(folder, python) if restricted else None

    def command(fd: int) -> list[str]:
        places = {"code": str(folder.code), "work": work, "parent": os.getpid(), "landlock": landlock_rules}
        config = shim_config(job.limits, fd, uid=os.getuid() if user is None else user, **places, **told)
        return python.command(str(folder.zip), config)

    env = {**ENVIRONMENT, "PATH": "/usr/bin:/bin", "HOME": work, "TMPDIR": work}
    return Plan(command, env, _Disk(work, job.limits.disk).look)


def _rules(folder: Folder, python: Interpreter) -> dict[str, list[str]]:
    return {
        "read": [each for each in (*_READABLE, python.prefix, str(folder.given)) if os.path.exists(each)],
        "write": [str(folder.work)],
        "devices": [each for each in _DEVICES if os.path.exists(each)],
    }


class _Disk:
    """What the code has on the disk: the files in its folder, and those that it has open and removed."""

    def __init__(self, work: str, most: int) -> None:
        self._work = work
        self._most = most
        self._pid: int | None = None

    def look(self, told: bytes) -> Limit | None:
        if self._pid is None:
            self._pid = report.pid(told)
        try:
            used = dict(islice(chain(_below(self._work), _open_and_removed(self._pid)), MOST_ENTRIES + 1))
        except OSError:  # a folder that can't be looked into, or lies too deep
            return Limit.DISK
        return Limit.DISK if len(used) > MOST_ENTRIES or sum(used.values()) > self._most else None


_Used = tuple[tuple[int, int], int]
"""A file by device and inode, and the bytes that it takes of the disk."""


def _below(root: str) -> Iterator[_Used]:
    folders = [(root, 0)]
    while folders:
        folder, depth = folders.pop()
        if depth > DEEPEST:
            raise OSError("too deep")
        for path in _entries(folder):
            with suppress(FileNotFoundError):
                info = os.lstat(path)
                yield _used(info)
                if stat.S_ISDIR(info.st_mode):
                    folders.append((path, depth + 1))


def _open_and_removed(pid: int | None) -> Iterator[_Used]:
    # Only of a process that has ended are they somebody else's: the code can't make itself unreadable.
    with suppress(PermissionError):
        for path in _entries(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError):
                info = os.stat(path)
                if info.st_nlink == 0:
                    yield _used(info)


def _entries(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except (FileNotFoundError, ProcessLookupError):  # gone meanwhile
        return []


def _used(info: os.stat_result) -> _Used:
    return (info.st_dev, info.st_ino), info.st_blocks * _BLOCK
