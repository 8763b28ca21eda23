"""Landlock: what of the host's files a process may still open, and that it may open nothing else."""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_ABI, _PATH_BENEATH = 1, 1

_READ = 1 << 2 | 1 << 3
"""Read a file, read a folder."""
_WRITE = _READ | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14
"""And write, remove, make folders, files and links, move, shorten. Not: sockets, pipes, devices."""
_DEVICE = 1 << 1 | 1 << 2

LEAST_ABI = 3
"""Older ones let a file be shortened that may not be written."""

_RIGHTS = {3: 15, 4: 15}
"""How many kinds of access the ABI knows; every later one knows sixteen."""
_NO_TCP, _NO_SIGNALS_NOR_ABSTRACT_SOCKETS = 3, 3

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The kernel's Landlock, 0 if it has none."""
    return max(int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ABI)), 0)


def restrict(*, read: Iterable[str], write: Iterable[str], devices: Iterable[str]) -> None:
    """From now on this thread, and what it starts, opens only what is below these paths. Raises OSError."""
    version = abi()
    if version < LEAST_ABI:
        raise OSError(f"Landlock of this kernel is version {version}, and {LEAST_ABI} is needed")
    handled = (1 << _RIGHTS.get(version, 16)) - 1
    scopes = (_NO_TCP if version >= 4 else 0, _NO_SIGNALS_NOR_ABSTRACT_SOCKETS if version >= 6 else 0)
    given = struct.pack("<QQQ", handled, *scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _checked(_libc.syscall(_CREATE, given, ctypes.c_size_t(len(given)), 0))
    for paths, rights in ((read, _READ), (write, _WRITE), (devices, _DEVICE)):
        for path in paths:
            _allow(ruleset, path, rights)
    _checked(_libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    at = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= _DEVICE
    try:
        _checked(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, at), 0))
    finally:
        os.close(at)


def _checked(answer: int) -> int:
    if answer < 0:
        raise OSError(ctypes.get_errno(), "Landlock")
    return answer
