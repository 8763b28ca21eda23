"""The lock on the code's own process: limits, the filter on system calls, and a look whether both hold."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct

from . import seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_THREADS, MOST_OPEN, STACK = 32, 128, 8 << 20

_GET_SECCOMP, _GET_NO_NEW_PRIVS, _FILTERED = 21, 39, 2
_CAPABILITIES_3 = 0x20080522
_AF_INET, _SOCK_STREAM = 2, 1

Config = dict[str, "Any"]


class Open(Exception):  # noqa: N818 - named by what is the matter
    """The lock was closed, and does not hold."""


def close(config: Config) -> None:
    """Lock this process, and look. Raises OSError or ValueError where a part can't be put on, `Open` where it does not
    hold. Only where a machine of its own is the wall (`config["filter"]` is "try") may the filter be missing."""
    _limit(config)
    try:
        seccomp.install(network=config["egress"] is not None, host_files=config["landlock"] is not None)
    except OSError:
        if config["filter"] != "try":
            raise
        return
    _look(config)


def most_threads() -> int:
    """What the limit on threads has to be: it counts all those of the user, wherever they are."""
    return MOST_THREADS + sum(_threads(pid) for pid in os.listdir("/proc") if pid.isdecimal())


def _threads(pid: str) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/task")) if os.stat(f"/proc/{pid}").st_uid == os.getuid() else 0
    except OSError:  # it has ended meanwhile
        return 0


def _limit(config: Config) -> None:
    limits = {
        resource.RLIMIT_AS: config["memory"],
        resource.RLIMIT_CPU: config["cpu"],
        resource.RLIMIT_FSIZE: config["disk"],
        resource.RLIMIT_NPROC: config["threads"],
        resource.RLIMIT_NOFILE: MOST_OPEN,
        resource.RLIMIT_STACK: STACK,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # A process that has used up its time is told so by a signal of its own, and killed a second later.
        last = least + 1 if which == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else least
        resource.setrlimit(which, (least, last))


def _look(config: Config) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    capabilities = ctypes.create_string_buffer(24)
    libc.capget(struct.pack("<Ii", _CAPABILITIES_3, 0), capabilities)
    held = {
        "the filter": libc.prctl(_GET_SECCOMP, 0, 0, 0, 0) == _FILTERED,
        "no_new_privs": libc.prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
        "no capabilities": not any(capabilities.raw),
        "no root": 0 not in (*os.getresuid(), *os.getresgid()),
        "the user": config["uid"] in (None, os.getuid()),
        "no process": _no_process(),
        "no network": config["egress"] is not None or _refused(libc.socket(_AF_INET, _SOCK_STREAM, 0)),
    }
    if not all(held.values()):
        raise Open(f"not held: {', '.join(name for name, holds in held.items() if not holds)}")


def _refused(answer: int) -> bool:
    return answer == -1 and ctypes.get_errno() == errno.EPERM


def _no_process() -> bool:
    try:
        made = os.fork()
    except PermissionError:
        return True
    if made == 0:
        os._exit(0)
    return False
