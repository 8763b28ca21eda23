"""The folder of one run of code: the program that goes first, the code, its files. It is gone when the run is."""

from __future__ import annotations

import io
import os
import py_compile
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chalicelib.adapters.sandbox import inside
from chalicelib.core.code import CodeJob

PREFIX = "pawl-code-"

NOBODY = 65534
"""Who runs code where we are root: root's processes escape the limit on threads, and root's files are everybody's."""


@dataclass(frozen=True, slots=True)
class Folder:
    """`program` holds the package `inside`, zipped, and the code, `given` the files in, `work` is the code's own."""

    root: Path

    @property
    def program(self) -> Path:
        return self.root / "program"

    @property
    def zip(self) -> Path:
        return self.program / "inside.zip"

    @property
    def code(self) -> Path:
        return self.program / "main.py"

    @property
    def given(self) -> Path:
        return self.root / "in"

    @property
    def work(self) -> Path:
        return self.root / "work"


def sandbox_user() -> int | None:
    """The uid and gid for the code; None for our own."""
    return NOBODY if os.geteuid() == 0 else None


@contextmanager
def folder_for(job: CodeJob) -> Iterator[Folder]:
    """A folder that only the code's user can enter."""
    folder = Folder(Path(tempfile.mkdtemp(prefix=PREFIX)).resolve())
    try:
        _fill(folder, job)
        yield folder
    finally:
        raze(folder.root)


def _fill(folder: Folder, job: CodeJob) -> None:
    for made in (folder.program, folder.given, folder.work):
        made.mkdir()
    folder.zip.write_bytes(_zip())
    folder.code.write_text(job.code, encoding="utf-8", errors="surrogatepass")
    for name, content in job.files.items():
        (folder.given / name).write_bytes(content)
    if (user := sandbox_user()) is not None:
        os.chown(folder.root, user, user)
        os.chown(folder.work, user, user)


@cache
def _zip() -> bytes:
    """The package with its bytecode, not packed: compiled at each run, it would cost more than the sandbox."""
    made, unchecked = io.BytesIO(), py_compile.PycInvalidationMode.UNCHECKED_HASH
    with zipfile.ZipFile(made, "w") as archive, tempfile.TemporaryDirectory() as scratch:
        for path in Path(inside.__path__[0]).glob("*.py"):
            compiled = os.path.join(scratch, "module.pyc")
            py_compile.compile(str(path), compiled, path.name, doraise=True, invalidation_mode=unchecked)
            archive.write(path, f"inside/{path.name}")
            archive.write(compiled, f"inside/{path.stem}.pyc")
    return made.getvalue()


def raze(root: Path) -> None:
    """Remove it, however deep and however barred. Folders are moved up before they are entered: the code may have made
    more of them, one in the other, than a path or a stack can hold."""
    top, moved = os.open(root, os.O_RDONLY | os.O_DIRECTORY), 0
    try:
        while names := os.listdir(top):
            for name in names:
                moved += _remove(top, name, moved)
    finally:
        os.close(top)
    root.rmdir()


def _remove(top: int, name: str, moved: int) -> int:
    """Remove `name` from the folder `top`; the folders in it go up there. How many have."""
    if not _is_folder(top, name):
        os.unlink(name, dir_fd=top)
        return 0
    os.chmod(name, stat.S_IRWXU, dir_fd=top)
    inner, before = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top), moved
    try:
        for each in os.listdir(inner):
            if _is_folder(inner, each):
                os.chmod(each, stat.S_IRWXU, dir_fd=inner)
                os.rename(each, f"moved-up {moved} {os.urandom(8).hex()}", src_dir_fd=inner, dst_dir_fd=top)
                moved += 1
            else:
                os.unlink(each, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)
    return moved - before


def _is_folder(parent: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
