"""A host worth attacking: servers that listen, secrets that lie about, a precious file, a process that can be hit.

All of it belongs to the user that the code runs as, so that nothing but the sandbox stands before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from chalicelib.adapters.sandbox.folder import NOBODY

CANARY = "CANARY-" + secrets.token_hex(8)
USER = NOBODY if os.geteuid() == 0 else os.geteuid()
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/usr/local/lib")


class Host:
    """`heard` is what the servers were sent, `home` the user's."""

    def __init__(self, home: Path, victim: int) -> None:
        self.home = home
        self.victim = victim
        self.heard = bytearray()
        self.addresses: dict[str, object] = {}
        self.precious = home / "precious"

    def world(self, name: str, leak: str) -> tuple[str, str]:
        """A mark for one attack, and what its code is told in `in/world.json`."""
        mark = f"{name}-{secrets.token_hex(6)}"
        passwd = hashlib.sha256(Path("/etc/passwd").read_bytes()).hexdigest()
        told = {"mark": mark, "leak": leak, "home": str(self.home), "victim": self.victim, "passwd": passwd}
        return mark, json.dumps({**told, **self.addresses})

    def traces(self, mark: str) -> list[str]:
        """What an attack has left outside."""
        found = ["a server heard it"] if mark.encode() in self.heard else []
        found += [str(path) for place in PLACES for path in Path(place).glob(f"*{mark}*")]
        found += [str(path) for path in self.home.rglob(f"*{mark}*")]
        return found + [f"process {pid}" for pid in _processes_with(mark)]

    def damage(self) -> list[str]:
        """What became of the precious file, and of the process."""
        found = [] if _alive(self.victim) else ["the process is dead"]
        if not self.precious.exists() or self.precious.read_text() != "precious":
            return [*found, "the file is not what it was"]
        info = self.precious.stat()
        if (info.st_mode & 0o777, info.st_mtime, info.st_nlink) != (0o600, 1e9, 1) or os.listxattr(self.precious):
            found.append("the file's mode, time, links or attributes are not what they were")
        return found


def descendants(pid: int) -> list[int]:
    """Everything that descends from `pid`, by the kernel's list of children."""
    found: list[int] = []
    todo = [pid]
    while todo:
        for task in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            with suppress(OSError):  # it has ended meanwhile
                children = [int(each) for each in task.read_text().split()]
                found += children
                todo += children
    return found


def _processes_with(mark: str) -> Iterator[int]:
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                yield int(pid)
        except OSError:
            pass


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"


@contextmanager
def a_host() -> Iterator[Host]:
    with ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="home-"))
        stack.callback(shutil.rmtree, home)
        as_user = {"user": USER, "group": USER, "extra_groups": ()} if os.geteuid() == 0 else {}
        victim = subprocess.Popen(["/bin/sleep", "600"], cwd="/", **as_user)  # type: ignore[call-overload]
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        host = Host(home, victim.pid)
        _furnish(host)
        for name, server in _servers(home):
            stack.callback(server.close)
            host.addresses[name] = _address(server)
            threading.Thread(target=_listen, args=(server, host.heard), daemon=True).start()
        yield host


def _furnish(host: Host) -> None:
    (host.home / ".aws").mkdir()
    (host.home / ".local/lib/python/site-packages").mkdir(parents=True)
    for path in (host.home / ".aws" / "credentials", host.home / ".env"):
        path.write_text(f"secret = {CANARY}\n")
    host.precious.write_text("precious")
    for path in (host.home, *host.home.rglob("*")):
        if os.geteuid() == 0:
            os.chown(path, USER, USER)
        path.chmod(0o700 if path.is_dir() else 0o600)
    os.utime(host.precious, (1e9, 1e9))


def _servers(home: Path) -> Iterator[tuple[str, socket.socket]]:
    kinds: dict[str, tuple[int, int, tuple[str, int] | str]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "unix": (socket.AF_UNIX, socket.SOCK_STREAM, str(home / "server")),
        "unix_datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM, str(home / "datagrams")),
        "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{secrets.token_hex(8)}"),
        "abstract_datagrams": (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{secrets.token_hex(8)}"),
    }
    for name, (family, kind, address) in kinds.items():
        server = socket.socket(family, kind)
        server.bind(address)
        if isinstance(address, str) and not address.startswith("\0"):
            os.chmod(address, 0o777)
        if kind == socket.SOCK_STREAM:
            server.listen()
        yield name, server


def _address(server: socket.socket) -> object:
    name = server.getsockname()
    if isinstance(name, bytes):
        return name.decode().removeprefix("\0")
    return name[1] if isinstance(name, tuple) else name


def _listen(server: socket.socket, heard: bytearray) -> None:
    try:
        while True:
            if server.type == socket.SOCK_DGRAM:
                heard.extend(server.recv(1000))
                continue
            with server.accept()[0] as one:
                one.settimeout(2)
                heard.extend(one.recv(1000))
    except OSError:  # closed: the test is over
        return
