"""Bubblewrap: namespaces of its own for every run, with nothing in them but the system's libraries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from chalicelib.adapters.net import dialling
from chalicelib.adapters.net.egress_proxy import EgressProxy
from chalicelib.adapters.sandbox.contained import ENVIRONMENT, Plan, shim_config
from chalicelib.adapters.sandbox.folder import NOBODY, Folder
from chalicelib.adapters.sandbox.interpreter import Interpreter
from chalicelib.core.code import CodeJob, CodeLimits
from chalicelib.core.egress import EgressPolicy, HostPattern, one_of
from chalicelib.core.errors import EgressRefused, SandboxUnavailable

WHAT_TO_DO = "install bubblewrap 0.8 or newer (apt-get install bubblewrap)"

_SEARCHED = "/usr/local/bin:/usr/bin:/bin"
_SHARED_MEMORY = 1 << 20
_PROXY = "egress.sock"
_ENV = {**ENVIRONMENT, "PATH": "/usr/bin:/bin", "HOME": "/work", "TMPDIR": "/tmp"}
_SYSTEM = ("/bin", "/lib", "/lib32", "/lib64", "/sbin")
_OF_ETC = ("/etc/ld.so.cache", "/etc/ssl/certs")


class Bubblewrap:
    """`binary`: the bwrap to use; None looks for the system's. `resolve`, `dial`: the doors to the approved hosts."""

    name = "bubblewrap"

    def __init__(
        self,
        binary: str | None = None,
        *,
        resolve: dialling.Resolve = dialling.resolve,
        dial: dialling.Dial = dialling.dial,
    ) -> None:
        self._binary = binary
        self._resolve = resolve
        self._dial = dial

    def identity(self) -> tuple[object, ...]:
        info = os.stat(self._found())
        return (self._found(), info.st_ino, info.st_size, info.st_mtime_ns, info.st_mode, os.geteuid(), os.uname())

    def plan(self, folder: Folder, job: CodeJob, python: Interpreter) -> Plan:
        def command(fd: int) -> list[str]:
            egress = f"/program/{_PROXY}" if job.hosts else None
            config = shim_config(job.limits, fd, code="/program/main.py", work="/work", uid=NOBODY, egress=egress)
            inside = [*_namespaces(), *_environment(), *_files(folder, python, job.limits), "--chdir", "/work"]
            return [self._found(), *inside, "--", *python.command("/program/inside.zip", config)]

        # Nothing at all: where bwrap itself is process 1, its environment can be read in the sandbox.
        return Plan(command, env={}, beside=self._proxy(folder, job) if job.hosts else nullcontext())

    def _proxy(self, folder: Folder, job: CodeJob) -> EgressProxy:
        try:
            policy = EgressPolicy(one_of([HostPattern.parse(host) for host in job.hosts]))
        except EgressRefused as refused:
            raise SandboxUnavailable(f"{self.name}: {refused.detail}") from refused
        return EgressProxy(str(folder.program / _PROXY), policy, resolve=self._resolve, dial=self._dial)

    def _found(self) -> str:
        found = self._binary or shutil.which("bwrap", path=_SEARCHED)
        if found is None or not os.access(found, os.X_OK):
            raise SandboxUnavailable(f"{self.name}: there is no bwrap; {WHAT_TO_DO}")
        return os.path.realpath(found)


def _namespaces() -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session")
    # bwrap's own first process has no filter and could be written into; the shim lets nobody look.
    yield "--as-pid-1"
    yield from ("--cap-drop", "ALL", "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox")


def _environment() -> Iterator[str]:
    yield "--clearenv"
    for name, value in _ENV.items():
        yield from ("--setenv", name, value)


def _files(folder: Folder, python: Interpreter, limits: CodeLimits) -> Iterator[str]:
    """The file system: the system's libraries, read-only, and one small disk for all that is written.

    Every tmpfs gets a size, bwrap's own root and /dev are made read-only: they are memory without a limit otherwise.
    """
    yield from ("--ro-bind", "/usr", "/usr")
    yield from _system()
    if not Path(python.prefix).is_relative_to("/usr"):
        yield from ("--ro-bind", python.prefix, python.prefix)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from ("--size", str(limits.disk), "--tmpfs", "/work", "--dir", "/work/tmp", "--symlink", "work/tmp", "/tmp")
    yield from ("--ro-bind", str(folder.given), "/work/in", "--ro-bind", str(folder.program), "/program")
    yield from ("--remount-ro", "/")


def _system() -> Iterator[str]:
    for path in _SYSTEM:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)
    for path in _OF_ETC:
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)
