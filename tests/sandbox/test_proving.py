"""A wall that does not stand runs nothing: there is no sandbox that contains nothing."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.sandbox import choosing, proving
from chalicelib.adapters.sandbox.bubblewrap import Bubblewrap
from chalicelib.adapters.sandbox.choosing import sandbox_here
from chalicelib.adapters.sandbox.contained import Plan, Wall
from chalicelib.adapters.sandbox.folder import Folder
from chalicelib.adapters.sandbox.inside import landlock
from chalicelib.adapters.sandbox.interpreter import Interpreter
from chalicelib.adapters.sandbox.landlocked import Landlock
from chalicelib.adapters.sandbox.proving import ProvenSandbox
from chalicelib.core.code import CodeJob
from chalicelib.core.errors import SandboxUnavailable
from tests.sandbox.jobs import CLOCK, a_job, sandbox

BWRAP = "/usr/bin/bwrap"
ROOT = Path(__file__).parents[2]

NOTHING_BUT_THE_COMMAND = """#!/bin/sh
while [ "$1" != "--" ]; do shift; done
shift
exec "$@"
"""
"""A bwrap that starts what it is told to, and contains nothing."""


class NoFilter:
    """Landlock's wall, with the shim told to do without something."""

    name = "landlock"

    def __init__(self, **told: Any) -> None:
        self._told = told

    def identity(self) -> tuple[object, ...]:
        return (self.name,)

    def plan(self, folder: Folder, job: CodeJob, python: Interpreter) -> Plan:
        plan = Landlock().plan(folder, job, python)

        def command(fd: int) -> list[str]:
            *start, config = plan.command(fd)
            return [*start, marshal.dumps({**marshal.loads(bytes.fromhex(config)), **self._told}, 0).hex()]

        return Plan(command, plan.env, plan.watch)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that nobody, too, may look into."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def a_script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def refused(*walls: Wall) -> str:
    marker = Path("/tmp") / f"ran-{os.urandom(6).hex()}"
    with pytest.raises(SandboxUnavailable) as refusal:
        ProvenSandbox(walls, CLOCK).run(a_job(f"open({str(marker)!r}, 'w')"))
    assert not marker.exists()
    return str(refusal.value)


def test_the_strongest_wall_is_taken_first() -> None:
    assert sandbox("auto").run(a_job("")).backend == "bubblewrap"


def test_without_bubblewrap_landlock_is_taken() -> None:
    walls: list[Wall] = [Bubblewrap("/nowhere/bwrap"), Landlock()]

    assert ProvenSandbox(walls, CLOCK).run(a_job("")).backend == "landlock"


def test_f20_a_missing_wall_is_refused_with_what_to_do() -> None:
    assert "apt-get install bubblewrap" in refused(Bubblewrap("/nowhere/bwrap"))


def test_a_kernel_without_landlock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 0)

    assert "version 0" in refused(Landlock())


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_where_there_is_no_linux_it_says_what_to_do(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)

    with pytest.raises(SandboxUnavailable, match="run Pawl in a Linux machine or container"):
        sandbox_here("auto", CLOCK).run(a_job(""))


def test_there_is_no_sandbox_that_contains_nothing() -> None:
    assert set(choosing.WALLS) == {"bubblewrap", "landlock"}
    with pytest.raises(KeyError):
        sandbox_here("none", CLOCK)


def test_a_bwrap_that_contains_nothing_is_found_out(place: Path) -> None:
    assert "bubblewrap: " in refused(Bubblewrap(a_script(place / "bwrap", NOTHING_BUT_THE_COMMAND)))


def test_a_bwrap_that_says_it_worked_and_did_nothing_is_found_out(place: Path) -> None:
    assert "before its lock had closed" in refused(Bubblewrap(a_script(place / "bwrap", "#!/bin/sh\nexit 0\n")))


@pytest.mark.parametrize(
    "told",
    [{"filter": "try", "landlock": None}, {"landlock": None}, {"uid": 12345}, {"work": "/nowhere"}],
)
def test_f20_a_shim_that_can_not_lock_is_refused(told: dict[str, Any]) -> None:
    assert "landlock: " in refused(NoFilter(**told))


def test_f20_a_wall_that_was_swapped_after_its_proof_has_to_prove_itself_anew(place: Path) -> None:
    swapped = place / "bwrap"
    swapped.write_bytes(Path(BWRAP).read_bytes())
    swapped.chmod(0o755)
    sandboxed = ProvenSandbox([Bubblewrap(str(swapped))], CLOCK)
    assert sandboxed.run(a_job("")).exit == 0

    swapped.unlink()
    a_script(swapped, NOTHING_BUT_THE_COMMAND)

    with pytest.raises(SandboxUnavailable):
        sandboxed.run(a_job(""))


def test_another_binary_has_to_prove_itself_whatever_it_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs: list[str] = []
    monkeypatch.setattr(proving, "prove", lambda wall, clock: proofs.append(wall.name))
    bwrap = place / "bwrap"
    sandboxed = ProvenSandbox([Bubblewrap(str(bwrap))], CLOCK)

    for _ in range(2):
        bwrap.unlink(missing_ok=True)
        bwrap.write_bytes(Path(BWRAP).read_bytes())
        bwrap.chmod(0o755)
        assert sandboxed.run(a_job("")).exit == 0

    assert proofs == ["bubblewrap", "bubblewrap"]


def test_a_proof_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs: list[str] = []
    monkeypatch.setattr(proving, "prove", lambda wall, clock: proofs.append(wall.name))
    sandboxed = ProvenSandbox([Landlock()], CLOCK)

    sandboxed.run(a_job(""))
    sandboxed.run(a_job(""))

    assert proofs == ["landlock"]


def test_f20_even_a_forged_proof_does_not_run_code_in_the_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shim looks for itself at each run whether its lock holds."""
    monkeypatch.setattr(proving, "prove", lambda wall, clock: None)

    assert "landlock: " in refused(NoFilter(uid=12345))


AUTO = """
from tests.sandbox.jobs import a_job, sandbox
print(sandbox("auto").run(a_job("print(6 * 7)")))
"""


def test_where_users_may_make_no_namespaces_landlock_is_taken() -> None:
    closed = [BWRAP, "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000"]
    done = subprocess.run(
        [*closed, "--", sys.executable, "-c", AUTO], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert "backend='landlock'" in done.stdout, done.stderr
    assert "stdout='42\\n'" in done.stdout
    assert "bubblewrap: " in done.stderr
