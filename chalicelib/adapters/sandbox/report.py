"""What the shim reports, read with suspicion: whoever gets out of the code's process could write it."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chalicelib.core.code import CodeLimits, Limit, is_file_path

LINES = 2048
"""Bytes that the report's lines may have."""

PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)


@dataclass(frozen=True, slots=True)
class Report:
    """`refused`: why the code was not begun, or None. The rest as far as the shim saw the code's end."""

    refused: str | None
    exit: int | None = None
    limit: Limit | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    dropped: int = 0


def most(limits: CodeLimits) -> int:
    """The bytes that a whole report can have: the lines, and a tar with its headers and padding."""
    return LINES + limits.file_bytes + limits.files_out * 4 * tarfile.BLOCKSIZE + 2 * tarfile.RECORDSIZE


def read(report: bytes, limits: CodeLimits) -> Report:
    """The report as far as it came. What does not read as one means that the code was not contained."""
    first, _, rest = report.partition(b"\n")
    begun = _line(first)
    if begun.get("ready") is not True:
        return Report(refused=str(begun.get("refused") or "the sandbox ended before its lock had closed"))
    last, _, packed = rest.partition(b"\n")
    ended = _line(last)
    files, lost = unpack(packed, limits)
    dropped = _number(ended.get("dropped")) or 0
    return Report(
        refused=None,
        exit=_number(ended.get("exit")),
        limit=Limit(ended["limit"]) if ended.get("limit") in list(Limit) else None,
        files=files,
        dropped=dropped + lost,
    )


def pid(report: bytes) -> int | None:
    """The code's process, once its lock has closed."""
    first, whole, _ = report.partition(b"\n")
    return _number(_line(first).get("pid")) if whole else None


def _line(line: bytes) -> dict[str, Any]:
    try:
        told = json.loads(line[:LINES])
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def unpack(packed: bytes, limits: CodeLimits) -> tuple[dict[str, bytes], int]:
    """The plain files in the tar that fit, and how many members did not. Nothing is unpacked onto a disk."""
    files: dict[str, bytes] = {}
    lost, left = 0, limits.file_bytes
    for name, content in _members(packed):
        if content is None or len(content) > left or len(files) == limits.files_out or not is_file_path(name):
            lost += 1
            continue
        files[name] = content
        left -= len(content)
    return files, lost


def _members(packed: bytes) -> Iterator[tuple[str, bytes | None]]:
    if not packed:
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            for member in archive:
                yield member.name, _content(archive, member, len(packed))
    except (tarfile.TarError, ValueError, EOFError):
        yield "", None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, most_bytes: int) -> bytes | None:
    # A sparse member may claim any size; a plain one can't be larger than the tar that it stands in.
    if member.type not in PLAIN or member.sparse is not None or member.size > most_bytes:
        return None
    found = archive.extractfile(member)
    content = None if found is None else found.read()
    return content if content is not None and len(content) == member.size else None
