"""The first program in the sandbox: it locks itself in, runs the code in a child, and packs up what the code has left.

It needs the standard library alone, and is told everything by its one argument. To its report it writes a line once the
lock has closed, or why it has not; a line on how the code ended; and a tar of the files out. The code itself never
holds the report: it could then say what it liked.

Every module that is imported here is paid for at every run: that is why json, typing, signal and the like are not.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys

from . import code, files, landlock, lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

REFUSED = 125
_KILL = 9
_TIME_IS_UP = 24
"""SIGXCPU."""
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_NO_NEW_PRIVS = 1, 4, 38

_libc = ctypes.CDLL(None, use_errno=True)

Config = dict[str, "Any"]


def main() -> None:
    """Both processes come through here; the code's own goes on to its end like any other program."""
    config: Config = marshal.loads(bytes.fromhex(sys.argv[1]))
    report = int(config["report"])
    try:
        _prepare(config)
    except OSError as fault:
        _refuse(report, str(fault))
    heard, note = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(report)
        os.close(heard)
        _become_the_code(config, note)
    else:
        os.close(note)
        _attend(config, report, child, heard)


def _prepare(config: Config) -> None:
    """What holds for both processes. The shim is none that the code could look into."""
    _die_with_parent()
    if config["parent"] not in (None, os.getppid()):
        sys.exit(REFUSED)
    if _libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    os.chdir(config["work"])
    os.makedirs("out", exist_ok=True)
    code.read(config["code"])
    config["threads"] = lock.most_threads()
    if config["landlock"] is not None:
        landlock.restrict(**config["landlock"])


def _die_with_parent() -> None:
    _libc.prctl(_SET_PDEATHSIG, _KILL, 0, 0, 0)


def _become_the_code(config: Config, note: int) -> None:
    _die_with_parent()
    # So that whoever watches its disk sees its open files. It can't take this back, nor the line above.
    _libc.prctl(_SET_DUMPABLE, 1, 0, 0, 0)
    try:
        if config["egress"] is not None:
            from . import forward

            forward.open_way(config["egress"])
        lock.close(config)
    except (OSError, ValueError, lock.Open) as fault:
        os.write(note, f"{fault}\n".encode())
        os._exit(REFUSED)
    os.write(note, b"ready\n")
    code.run(note)


def _attend(config: Config, report: int, child: int, heard: int) -> None:
    with os.fdopen(heard, "rb") as notes:
        first = notes.readline().decode().strip()
        if first != "ready":
            _refuse(report, first or "the code's process died before it began")
        os.write(report, b'{"ready": true, "pid": %d}\n' % child)
        said = notes.read(100).decode(errors="replace")
    _, status, used = os.wait4(child, 0)
    found, dropped = files.found("out", config["files"], config["file_bytes"])
    exit_, limit = _ending(status, used.ru_utime + used.ru_stime, said, config)
    os.write(report, f'{{"exit": {exit_}, "limit": {limit}, "dropped": {dropped}}}\n'.encode())
    if found:
        with os.fdopen(report, "wb") as out:
            files.pack("out", found, out)


def _ending(status: int, cpu: float, said: str, config: Config) -> tuple[str, str]:
    """Exit and limit, as JSON spells them."""
    ended = os.waitstatus_to_exitcode(status)
    # Code can wait out the signal that says so. Then it is killed, and nobody else kills it for good; the limit is
    # checked by ticks, the time used is told more finely.
    if ended == -_TIME_IS_UP or (ended == -_KILL and cpu > 0.75 * config["cpu"]):
        return "null", '"cpu"'
    return str(ended if ended >= 0 else 128 - ended), f'"{said}"' if said in ("memory", "disk") else "null"


def _refuse(report: int, why: str) -> NoReturn:
    import json

    os.write(report, json.dumps({"refused": why}).encode() + b"\n")
    sys.exit(REFUSED)
