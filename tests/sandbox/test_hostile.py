"""Hostile code behind each wall of the laptop, started by root and by a user. A control shows that it is hostile."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chalicelib.adapters.sandbox.choosing import WALLS
from tests.sandbox.attacks import BENIGN, ENDLESS, FIRST, HOSTILE, LIMITS, USERS, Attack, attacks, control
from tests.sandbox.host import CANARY, Host, a_host

Verdict = Callable[[Attack], bool]

GOT: dict[str, Verdict] = {
    **dict.fromkeys(ENDLESS, lambda attack: attack.exit is None and "begun" in attack.stdout),
    **dict.fromkeys(
        ("net_tcp", "net_udp", "unix_path", "unix_abstract", "unix_pair"), lambda attack: bool(attack.traces)
    ),
    "write_outside": lambda attack: bool(attack.traces),
    "persist": lambda attack: bool(attack.traces),
    "daemonize": lambda attack: any(trace.startswith("process") for trace in attack.traces),
    "output_flood": lambda attack: len(attack.stdout) > 60 << 20,
    "segfault": lambda attack: attack.exit == 128 + 11,
    "deep_folders": lambda attack: "MADE 700" in attack.stdout,
    "change_outside": lambda attack: "'mode', 'time'" in attack.stdout and "'moved'" in attack.stdout,
    "leak_write": lambda attack: "/tmp" in attack.stdout,
    "linked_files": lambda attack: CANARY.encode() in b"".join(attack.files.values()),
    "linked_folder": lambda attack: CANARY.encode() in b"".join(attack.files.values()),
}
"""That the control came through. Of the others: that it says so."""


def _says_so(attack: Attack) -> bool:
    return "GOT" in attack.stdout


def _ended_by(*limits: str) -> Verdict:
    return lambda attack: attack.exit is None and attack.limit in limits


def _held(attack: Attack) -> bool:
    return attack.exit == 0 and attack.stdout.splitlines()[-1].startswith("HELD")


def _disk_held(attack: Attack) -> bool:
    return _held(attack) or _ended_by("disk")(attack)


HELD: dict[str, Verdict] = {
    **dict.fromkeys(("cpu_loop", "cpu_threads", "ignored_signals"), _ended_by("cpu")),
    "sleep_forever": _ended_by("wall"),
    **dict.fromkeys(("fill_folder", "fill_removed", "fill_reserved"), _disk_held),
    "memory_one": lambda attack: attack.exit == 1 and attack.limit == "memory" and "GOT" not in attack.stdout,
    "output_flood": lambda attack: attack.cut and len(attack.stdout) <= LIMITS["output"],
    "segfault": lambda attack: attack.exit == 128 + 11,
    "deep_folders": lambda attack: attack.stdout.startswith("MADE") or attack.limit == "disk",
    "change_outside": lambda attack: attack.stdout.startswith("TRIED") and "moved" not in attack.stdout,
    "leak_write": lambda attack: attack.stdout.startswith("WROTE"),
    "linked_files": lambda attack: attack.exit == 0 and attack.files == {},
    "linked_folder": lambda attack: attack.exit == 0 and attack.files == {},
}
"""How a contained one ends. Of the others: it says that it got nothing, and ends by itself."""


@pytest.fixture(scope="module", params=[(wall, user) for wall in WALLS for user in USERS], ids=" by ".join)
def behind_a_wall(request: pytest.FixtureRequest) -> Iterator[dict[str, Attack]]:
    """All attacks at once, and that the host is what it was."""
    wall, user = request.param
    with a_host() as host, tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o777)
        made = attacks(wall, user, host, Path(scratch))
        made["the host"] = Attack(None, "", {}, None, False, host.damage())
        made["the folders"] = Attack(None, "", {}, None, False, os.listdir(scratch))
    yield made
    assert {made[name].backend for name in HOSTILE} == {wall}


@pytest.mark.parametrize("name", HOSTILE)
def test_f20_hostile_code_is_contained(name: str, behind_a_wall: dict[str, Attack]) -> None:
    attack = behind_a_wall[name]

    assert HELD.get(name, _held)(attack), attack
    assert attack.traces == []
    assert CANARY not in attack.stdout + attack.stderr
    assert CANARY.encode() not in b"".join(attack.files.values())


def test_the_host_is_what_it_was(behind_a_wall: dict[str, Attack]) -> None:
    assert behind_a_wall["the host"].traces == []


def test_nothing_of_a_run_is_left_on_the_disk(behind_a_wall: dict[str, Attack]) -> None:
    assert behind_a_wall["the folders"].traces == []


def test_ordinary_code_works(behind_a_wall: dict[str, Attack]) -> None:
    attack = behind_a_wall[BENIGN]

    assert (attack.exit, attack.stdout, attack.limit) == (0, "DONE 285 18 ['abstract']\n", None), attack.stderr
    assert attack.files == {"table.csv": b"mean,28.5\r\nsum,285\r\n"}


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with a_host() as made:
        yield made


LEAK = secrets.token_hex(8)


OF_THE_SANDBOX = "forged_report"
"""There is nothing for it to attack where there is no sandbox."""


@pytest.mark.parametrize("name", [*FIRST, *(name for name in HOSTILE if name not in (*FIRST, OF_THE_SANDBOX))])
def test_without_a_sandbox_the_attack_succeeds(name: str, host: Host) -> None:
    attack = control(name, host, LEAK)

    assert GOT.get(name, _says_so)(attack), attack


@pytest.fixture(autouse=True, scope="module")
def _no_leak_is_left() -> Iterator[None]:
    yield
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
        for path in Path(place).glob(f"leak-{LEAK}"):
            path.unlink()
