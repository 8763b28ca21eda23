"""The filter on system calls, run instruction by instruction for both machines. The kernel runs it in test_hostile.py;
for aarch64 this is all that was run."""

from __future__ import annotations

import struct

import pytest

from chalicelib.adapters.sandbox.inside import calls
from chalicelib.adapters.sandbox.inside.seccomp import Program

PID = 4242
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
EPERM, ENOSYS, EOPNOTSUPP = 0x50001, 0x50026, 0x5005F
PRETENDED = 0x50000

THREAD, FORK, NEW_USER = 0x3D0F00, 0x11, 0x10000000

each_machine = pytest.mark.parametrize("machine", [*calls.ARCHES])


def answer(machine: str, nr: int, *args: int, network: bool = False, host_files: bool = False) -> int:
    """What the filter answers to a call: a BPF machine with the few instructions that it uses."""
    data = struct.pack("<iIQ6Q", nr, calls.ARCHES[machine], 0, *args, *[0] * (6 - len(args)))
    return run(Program(machine, PID, network=network, host_files=host_files).packed(), data)


def run(code: bytes, data: bytes) -> int:
    program = list(struct.iter_unpack("<HBBI", code))
    at, value = 0, 0
    while True:
        operation, then, otherwise, k = program[at]
        at += 1
        if operation == 0x06:
            return int(k)
        if operation == 0x20:
            [value] = struct.unpack_from("<I", data, k)
        elif operation == 0x54:
            value &= k
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[operation]
            at += then if holds else otherwise


def number(name: str, machine: str) -> int:
    found = calls.number(name, machine)
    assert found is not None
    return found


@each_machine
@pytest.mark.parametrize("name", calls.NEVER)
def test_what_nobody_needs_is_refused(name: str, machine: str) -> None:
    found = calls.number(name, machine)
    if found is not None:
        assert answer(machine, found) == EPERM


@each_machine
def test_a_thread_is_made_and_a_process_is_not(machine: str) -> None:
    clone = number("clone", machine)

    assert answer(machine, clone, THREAD) == ALLOWED
    assert answer(machine, clone, FORK) == EPERM
    assert answer(machine, clone, THREAD | NEW_USER) == EPERM
    assert answer(machine, number("clone3", machine)) == ENOSYS


@each_machine
@pytest.mark.parametrize("name", calls.ONLY_ONESELF)
def test_a_signal_reaches_oneself_only(name: str, machine: str) -> None:
    assert answer(machine, number(name, machine), PID, 9) == ALLOWED
    for other in (1, 0, -1 & 0xFFFFFFFFFFFFFFFF, PID + 1):
        assert answer(machine, number(name, machine), other, 9) == EPERM


@each_machine
def test_sockets_are_pairs_of_streams_and_nothing_else(machine: str) -> None:
    pair, socket = number("socketpair", machine), number("socket", machine)

    assert answer(machine, pair, 1, 1 | 0x80000) == ALLOWED
    assert {answer(machine, pair, 1, kind) for kind in (2, 3, 5, 2 | 0x80000)} == {EPERM}
    assert {answer(machine, socket, family, 1) for family in (1, 2, 10, 16, 17, 38, 40)} == {EPERM}
    assert {answer(machine, number(name, machine)) for name in calls.CONNECTING} == {EPERM}


@each_machine
def test_with_a_network_sockets_are_streams_of_two_families(machine: str) -> None:
    socket = number("socket", machine)

    assert {answer(machine, socket, family, 1 | 0x800, network=True) for family in (1, 2)} == {ALLOWED}
    assert {answer(machine, socket, family, 1, network=True) for family in (10, 16, 17, 38, 40)} == {EPERM}
    assert {answer(machine, socket, 2, kind, network=True) for kind in (2, 3)} == {EPERM}
    assert answer(machine, number("connect", machine), network=True) == ALLOWED


@each_machine
def test_nothing_is_typed_into_a_terminal_and_no_signal_is_ordered(machine: str) -> None:
    ioctl, fcntl = number("ioctl", machine), number("fcntl", machine)

    assert {answer(machine, ioctl, 0, request) for request in (0x5412, 0x541C, 0x8901, 0x8902)} == {EPERM}
    assert {answer(machine, ioctl, 0, 0x5412 | 1 << 32)} == {EPERM}
    assert {answer(machine, fcntl, 3, command) for command in (8, 15)} == {EPERM}
    assert answer(machine, ioctl, 0, 0x5413) == answer(machine, fcntl, 3, 1) == ALLOWED


@each_machine
def test_the_ties_to_the_parent_cannot_be_cut(machine: str) -> None:
    prctl = number("prctl", machine)

    assert {answer(machine, prctl, option) for option in (1, 4, 22, 35, 47)} == {EPERM}
    assert answer(machine, prctl, 15) == ALLOWED
    assert answer(machine, number("prlimit64", machine), 0) == ALLOWED
    assert answer(machine, number("prlimit64", machine), PID + 1) == EPERM


@each_machine
def test_calls_that_nobody_has_looked_at_are_not_there(machine: str) -> None:
    assert {answer(machine, nr) for nr in (424, 425, 430, 447, 462, 500, 1000)} == {ENOSYS}
    assert {answer(machine, number(name, machine)) for name in calls.HARMLESS} == {ALLOWED}


@each_machine
def test_where_the_host_s_files_are_in_sight_nothing_is_changed_about_them(machine: str) -> None:
    for names, told in ((calls.PRETENDED, PRETENDED), (calls.OWNERSHIP, EPERM), (("fallocate",), EOPNOTSUPP)):
        for name in names:
            found = calls.number(name, machine)
            if found is not None:
                assert answer(machine, found, host_files=True) == told


@each_machine
def test_another_machine_s_calls_end_the_process(machine: str) -> None:
    code = Program(machine, PID, network=False, host_files=False).packed()

    assert run(code, struct.pack("<iIQ6Q", 0, 0x40000003, 0, *[0] * 6)) == KILLED
    assert answer(machine, 0x40000000 + 39) == KILLED


def test_files_and_memory_are_as_ever() -> None:
    for nr in (0, 1, 2, 3, 9, 11, 12, 87, 202, 228, 257, 318):
        assert answer("x86_64", nr) == ALLOWED
    for nr in (34, 56, 57, 63, 64, 98, 113, 214, 222, 278):
        assert answer("aarch64", nr) == ALLOWED
