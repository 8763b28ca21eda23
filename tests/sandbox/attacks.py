"""The hostile snippets run: behind a wall, as root's or a user's, and as a control with no wall at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.adapters.sandbox.folder import NOBODY, raze
from chalicelib.adapters.sandbox.interpreter import interpreter
from tests.sandbox.host import CANARY, USER, Host

ROOT = Path(__file__).parents[2]
SNIPPETS = {path.stem: path.read_text() for path in sorted(Path(__file__).with_name("hostile").glob("*.py"))}
BENIGN = "benign"
HOSTILE = sorted(SNIPPETS.keys() - {BENIGN})
FIRST = ("leak_write",)
"""Before all others: another one looks for what it has left."""

ENDLESS = ("cpu_loop", "cpu_threads", "ignored_signals", "sleep_forever")
LIMITS: dict[str, Any] = {"cpu": 1, "wall": 20.0, "disk": 16 << 20, "output": 64 << 10}
SECONDS = 120

USERS = ("root", "user") if os.geteuid() == 0 else ("user",)
"""Who starts the sandbox. Only root can be both."""


@dataclass(frozen=True, slots=True)
class Attack:
    """What a snippet has said and left. `exit` as a shell says it; None where it was ended."""

    exit: int | None
    stdout: str
    files: dict[str, bytes]
    limit: str | None
    cut: bool
    traces: list[str]
    backend: str = ""
    stderr: str = ""


def attacks(wall: str, user: str, host: Host, scratch: Path) -> dict[str, Attack]:
    """Every snippet, behind that wall; `scratch` is where the sandbox may put its folders."""
    leak, marks = secrets.token_hex(8), {}
    batches: list[list[dict[str, Any]]] = [[], []]
    names = [*FIRST, *(name for name in SNIPPETS if name not in FIRST)]
    for name in names:
        marks[name], told = host.world(name, leak)
        limits = {**LIMITS, "wall": 1.0} if name == "sleep_forever" else LIMITS
        job = {"code": SNIPPETS[name], "files": {"world.json": told}, "limits": limits}
        batches[name not in FIRST].append(job)
    results = [each for batch in _run(wall, user, batches, scratch) for each in batch]
    return {name: _attack(result, host.traces(marks[name])) for name, result in zip(names, results, strict=True)}


def _attack(result: dict[str, Any], traces: list[str]) -> Attack:
    files = {name: b64decode(content) for name, content in result.pop("files").items()}
    result.pop("dropped")
    return Attack(**result, files=files, traces=traces)


def _run(wall: str, user: str, batches: list[list[dict[str, Any]]], scratch: Path) -> Any:
    with _a_copy() as copy, tempfile.TemporaryFile() as secret:
        secret.write(CANARY.encode())
        secret.flush()
        os.set_inheritable(secret.fileno(), True)
        done = subprocess.run(
            [interpreter(USER if os.geteuid() == 0 else None).binary, "-B", "-m", "tests.sandbox.runner"],
            input=json.dumps({"wall": wall, "batches": batches}),
            cwd=copy,
            env={"AWS_SECRET_ACCESS_KEY": CANARY, "TMPDIR": str(scratch)},
            close_fds=False,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            **_as(user),
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _as(user: str) -> dict[str, Any]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if user == "user" and os.geteuid() == 0 else {}


@contextmanager
def _a_copy() -> Iterator[Path]:
    """The sandbox and the runner, where everybody may read them."""
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made)
        parts = ("chalicelib/core", "chalicelib/ports", "chalicelib/adapters/net", "chalicelib/adapters/sandbox")
        for part in parts:
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("chalicelib/__init__.py", "chalicelib/adapters/__init__.py", "chalicelib/adapters/system.py"):
            shutil.copyfile(ROOT / name, copy / name)
        (copy / "tests" / "sandbox").mkdir(parents=True)
        shutil.copyfile(ROOT / "tests/sandbox/runner.py", copy / "tests/sandbox/runner.py")
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield copy


def control(name: str, host: Host, leak: str) -> Attack:
    """The snippet with no sandbox, by a user without rights, in a throwaway folder. It is bounded by itself."""
    mark, told = host.world(name, leak)
    folder = Path(tempfile.mkdtemp())
    try:
        _lay_out(folder, name, told)
        exit_, stdout = _started(folder, 1.0 if name in ENDLESS else 30.0)
        # What a collector would read that follows links.
        files = {path.name: path.read_bytes() for path in (folder / "out").glob("**/*") if path.is_file()}
        return Attack(exit_, stdout, files, None, False, host.traces(mark))
    finally:
        _clean_up(host, mark)
        raze(folder)


def _lay_out(folder: Path, name: str, told: str) -> None:
    for made in (folder, folder / "in", folder / "out"):
        made.mkdir(exist_ok=True)
        made.chmod(0o777)
    (folder / "in" / "world.json").write_text(told)
    (folder / "main.py").write_text(SNIPPETS[name])


def _started(folder: Path, seconds: float) -> tuple[int | None, str]:
    """How it ended, as a shell says it, None if it would not end; and what it said."""
    with tempfile.TemporaryFile() as secret, tempfile.TemporaryFile("w+") as said:
        secret.write(CANARY.encode())
        secret.flush()
        os.set_inheritable(secret.fileno(), True)
        process = subprocess.Popen(
            [interpreter(USER if os.geteuid() == 0 else None).binary, "-I", "main.py"],
            cwd=folder,
            env={"AWS_SECRET_ACCESS_KEY": CANARY, "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            close_fds=False,
            start_new_session=True,
            **_as("user"),
        )
        try:
            exit_ = process.wait(seconds)
        except subprocess.TimeoutExpired:
            exit_ = None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        said.seek(0)
        return exit_ if exit_ is None or exit_ >= 0 else 128 - exit_, said.read()


def _clean_up(host: Host, mark: str) -> None:
    for trace in host.traces(mark):
        if trace.startswith("process "):
            os.kill(int(trace.split()[1]), signal.SIGKILL)
        elif trace.startswith("/"):
            os.unlink(trace)
