"""A report is not believed: it comes from where the code is."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable

import pytest

from chalicelib.adapters.sandbox import report
from chalicelib.core.code import CodeLimits, Limit

LIMITS = CodeLimits(files_out=3, file_bytes=1000)
READY = b'{"ready": true, "pid": 7}\n'


def a_tar(*members: tuple[str, bytes], change: Callable[[tarfile.TarInfo], None] = lambda member: None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            change(member)
            archive.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return made.getvalue()


def test_plain_files_are_taken() -> None:
    assert report.unpack(a_tar(("a.txt", b"x"), ("deep/b.txt", b"y")), LIMITS) == (
        {"a.txt": b"x", "deep/b.txt": b"y"},
        0,
    )


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../up", "a/../../up", "a//b", "a/./b", "a\\b", "x" * 200, "a\nb", ".a"]
)
def test_a_name_that_leads_elsewhere_is_left_out(name: str) -> None:
    assert report.unpack(a_tar((name, b"x")), LIMITS) == ({}, 1)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_what_is_no_plain_file_is_left_out(kind: bytes) -> None:
    def change(member: tarfile.TarInfo) -> None:
        member.type, member.linkname = kind, "/etc/passwd"

    assert report.unpack(a_tar(("a.txt", b""), change=change), LIMITS) == ({}, 1)


def test_files_beyond_the_number_or_the_bytes_are_left_out() -> None:
    many = a_tar(*((f"{number}.txt", b"x") for number in range(5)))
    large = a_tar(("a.txt", b"x" * 600), ("b.txt", b"x" * 600), ("c.txt", b"x"))

    assert report.unpack(many, LIMITS) == ({"0.txt": b"x", "1.txt": b"x", "2.txt": b"x"}, 2)
    assert sorted(report.unpack(large, LIMITS)[0]) == ["a.txt", "c.txt"]


def test_a_file_that_claims_to_be_huge_is_left_out() -> None:
    header = tarfile.TarInfo("a.txt")
    header.size = 1 << 40
    sparse = tarfile.TarInfo("b.txt")
    sparse.type = tarfile.GNUTYPE_SPARSE

    assert report.unpack(header.tobuf(), LIMITS)[0] == {}
    assert report.unpack(sparse.tobuf() + bytes(1024), LIMITS)[0] == {}


@pytest.mark.parametrize("cut", [1, 511, 512, 700, 1023])
def test_a_tar_that_breaks_off_brings_no_half_file(cut: int) -> None:
    files, _ = report.unpack(a_tar(("a.txt", b"x" * 500))[:cut], LIMITS)

    assert files in ({}, {"a.txt": b"x" * 500})


@pytest.mark.parametrize("told", [b"", b"nonsense\n", b"[]\n", b'{"ready": 1}\n', b'{"exit": 0}\n', b"\xff\n"])
def test_without_its_first_line_the_code_counts_as_not_contained(told: bytes) -> None:
    assert report.read(told, LIMITS).refused is not None


@pytest.mark.parametrize(
    "line", [b"", b'{"exit": "0", "limit": "none", "dropped": "9"}\n', b"{\n", b'{"exit": true}\n']
)
def test_a_last_line_that_makes_no_sense_says_nothing(line: bytes) -> None:
    found = report.read(READY + line, LIMITS)

    assert (found.refused, found.exit, found.limit, found.dropped) == (None, None, None, 0)


def test_a_whole_report_is_read() -> None:
    told = json.dumps({"exit": 3, "limit": "memory", "dropped": 2}).encode() + b"\n"
    found = report.read(READY + told + a_tar(("a.txt", b"x")), LIMITS)

    assert (found.exit, found.limit, found.dropped, found.files) == (3, Limit.MEMORY, 2, {"a.txt": b"x"})
