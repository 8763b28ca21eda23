"""What the code has left in its folder for files out: plain files, few, small, packed as a tar."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

MOST_LOOKED_AT, DEEPEST = 1000, 8


def found(root: str, most: int, most_bytes: int) -> tuple[list[tuple[str, int]], int]:
    """The files that fit, by path and size, and how many more there are. Links and devices are no files."""
    kept: list[tuple[str, int]] = []
    dropped, left = 0, most_bytes
    for path, size in _plain_files(root):
        if len(kept) < most and size <= left:
            kept.append((path, size))
            left -= size
        else:
            dropped += 1
    return kept, dropped


def _plain_files(root: str) -> Iterator[tuple[str, int]]:
    folders, looked_at = [(root, 1)] if _is_folder(root) else [], 0
    while folders:
        folder, depth = folders.pop()
        for name in sorted(os.listdir(folder)):
            looked_at += 1
            if looked_at > MOST_LOOKED_AT:
                return
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if stat.S_ISREG(info.st_mode):
                yield os.path.relpath(path, root), info.st_size
            elif stat.S_ISDIR(info.st_mode) and depth < DEEPEST:
                folders.append((path, depth + 1))


def _is_folder(path: str) -> bool:
    """The code may have put a link in its place, or nothing."""
    return os.path.lexists(path) and stat.S_ISDIR(os.lstat(path).st_mode)


def pack(root: str, chosen: list[tuple[str, int]], out: BinaryIO) -> None:
    """Write them as a tar. Nobody changes them meanwhile: the code has ended."""
    import tarfile

    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path, size in chosen:
            member = tarfile.TarInfo(path)
            member.size = size
            with open(os.path.join(root, path), "rb", opener=_no_link) as content:
                archive.addfile(member, content)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
