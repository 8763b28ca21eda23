"""The filter on system calls, written by hand as a BPF program, and put on the process for good.

A block a call: its first instruction skips it if another call is meant, its last one answers.
"""

from __future__ import annotations

import ctypes
import os
import struct

from . import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS, _EOPNOTSUPP = 1, 38, 95
_NR, _ARCH, _ARGS = 0, 4, 16

_X32 = 0x40000000
_CLONE_THREAD, _CLONE_NEW = 0x00010000, 0x7E020000
_AF_UNIX, _AF_INET, _SOCK_STREAM = 1, 2, 1
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
_F_SETOWN, _F_SETOWN_EX = 8, 15
# PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_{SET,GET}_TIMERSLACK,
# PR_{SET,GET}_NO_NEW_PRIVS, PR_SET_VMA
_PRCTL = (2, 3, 15, 16, 21, 29, 30, 38, 39, 0x53564D41)

_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER, _TSYNC = 1, 1

Instruction = tuple[int, int, int, int]


class Program:
    """What the kernel runs at each system call of process `pid`. `network`: whether sockets may be made; `host_files`:
    whether the files in sight are the host's own."""

    def __init__(self, machine: str, pid: int, *, network: bool, host_files: bool) -> None:
        self._machine = machine
        self._code: list[Instruction] = [
            (_LOAD, 0, 0, _ARCH),
            (_IF_EQUAL, 1, 0, calls.ARCHES[machine]),
            (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NR),
            (_IF_AT_LEAST, 0, 1, _X32),
            (_RETURN, 0, 0, _KILL),
        ]
        self._refuse(calls.NEVER, _EPERM)
        self._processes(pid)
        self._sockets(network)
        if host_files:
            self._host_files()
        self._young()
        self._code.append((_RETURN, 0, 0, _ALLOW))

    def packed(self) -> bytes:
        return b"".join(struct.pack("<HBBI", *each) for each in self._code)

    def _processes(self, pid: int) -> None:
        for name in calls.ONLY_ONESELF:
            self._only(name, 0, (pid,))
        self._only("prlimit64", 0, (0,))
        self._only("prctl", 0, _PRCTL)
        # Its flags stand behind a pointer, where no filter can look; C libraries fall back to clone.
        self._refuse(("clone3",), _ENOSYS)
        thread = [(_IF_BITS, 0, 2, _CLONE_THREAD), (_IF_BITS, 1, 0, _CLONE_NEW), (_RETURN, 0, 0, _ALLOW)]
        self._block("clone", [_argument(0), *thread, _error(_EPERM)])
        # What types into a terminal, and what has the kernel send signals to whom one likes.
        self._all_but("ioctl", 1, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP))
        self._all_but("fcntl", 1, (_F_SETOWN, _F_SETOWN_EX))

    def _sockets(self, network: bool) -> None:
        # Only pairs of streams: an end of a datagram pair can be sent to any other socket of the host.
        self._of_streams("socketpair", (_AF_UNIX,))
        if network:
            self._of_streams("socket", (_AF_UNIX, _AF_INET))
        else:
            self._refuse(("socket", *calls.CONNECTING), _EPERM)

    def _of_streams(self, name: str, families: tuple[int, ...]) -> None:
        left = len(families)
        family = [(_IF_EQUAL, left - place, 0, each) for place, each in enumerate(families)]
        stream = [_argument(1), (_AND, 0, 0, 0xF), (_IF_EQUAL, 0, 1, _SOCK_STREAM), (_RETURN, 0, 0, _ALLOW)]
        self._block(name, [_argument(0), *family, _error(_EPERM), *stream, _error(_EPERM)])

    def _host_files(self) -> None:
        self._refuse(calls.PRETENDED, 0)
        self._refuse(calls.OWNERSHIP, _EPERM)
        # It fills a disk faster than anybody can look.
        self._refuse(("fallocate",), _EOPNOTSUPP)

    def _young(self) -> None:
        for name in calls.HARMLESS:
            self._block(name, [(_RETURN, 0, 0, _ALLOW)])
        self._code += [(_IF_AT_LEAST, 0, 1, calls.YOUNG), _error(_ENOSYS)]

    def _refuse(self, names: Iterable[str], error: int) -> None:
        for name in names:
            self._block(name, [_error(error)])

    def _only(self, name: str, argument: int, values: tuple[int, ...]) -> None:
        left = len(values)
        equal = [(_IF_EQUAL, left - place, 0, each) for place, each in enumerate(values)]
        self._block(name, [_argument(argument), *equal, _error(_EPERM), (_RETURN, 0, 0, _ALLOW)])

    def _all_but(self, name: str, argument: int, values: tuple[int, ...]) -> None:
        left = len(values)
        equal = [(_IF_EQUAL, left - place, 0, each) for place, each in enumerate(values)]
        self._block(name, [_argument(argument), *equal, (_RETURN, 0, 0, _ALLOW), _error(_EPERM)])

    def _block(self, name: str, then: list[Instruction]) -> None:
        found = calls.number(name, self._machine)
        if found is not None:
            self._code += [(_IF_EQUAL, 0, len(then), found), *then]


def _argument(place: int) -> Instruction:
    # The lower half of the register: all of an int, and the kernel looks at no more of clone's flags.
    return (_LOAD, 0, 0, _ARGS + 8 * place)


def _error(number: int) -> Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def install(*, network: bool, host_files: bool) -> None:
    """Put the filter on all threads of this process. Raises OSError if the kernel does not take it."""
    machine = os.uname().machine
    if machine not in calls.ARCHES:
        raise OSError(f"no filter for {machine} is known")
    code = Program(machine, os.getpid(), network=network, host_files=host_files).packed()
    given = _Filter(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_SECCOMP[machine], _SET_MODE_FILTER, _TSYNC, ctypes.byref(given)) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
