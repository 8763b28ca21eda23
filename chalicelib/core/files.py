"""Files of runs: what may be uploaded, what a run may have, and the names and ids that they get."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath

from chalicelib.core import ids
from chalicelib.core.errors import InvalidInput, NoRoom, NotFound
from chalicelib.core.fields import check_range, check_text
from chalicelib.core.task import MAX_FILES
from chalicelib.core.tools import FileRef

MAX_BYTES = 10 * 1024 * 1024
"""Of one file."""
MAX_NAME = 200
"""Bytes of UTF-8."""

UPLOAD_WITHIN = timedelta(minutes=15)
"""How long an upload's form counts."""
UNUSED_FOR = timedelta(hours=24)
"""How long an uploaded file waits for a run to use it."""
LINK_FOR = timedelta(minutes=5)
"""How long a link to a run's file counts."""

OTHER = "application/octet-stream"
MEDIA_TYPES = frozenset(
    {
        *("text/plain", "text/csv", "text/tab-separated-values", "text/markdown"),
        *("application/json", "application/pdf", "application/zip", "application/gzip", OTHER),
        *("image/png", "image/jpeg", "image/gif", "image/webp"),
        "application/vnd.apache.parquet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    }
)
"""Nothing that a browser would run."""

_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069/\\]")
_NO_NAMES = ("", ".", "..")


@dataclass(frozen=True, slots=True)
class Bound:
    """At most `count` files, and `bytes` in all of them together."""

    count: int
    bytes: int


INPUTS = Bound(MAX_FILES, 50 * 1024 * 1024)
ARTIFACTS = Bound(50, 50 * 1024 * 1024)
"""What a run may be given, and what its tools may leave behind."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file on its way in. It is forgotten at `expires_at`; runs that were given it have copies of their own."""

    account_id: str
    file: FileRef
    created_at: datetime

    @property
    def expires_at(self) -> datetime:
        return self.created_at + UNUSED_FOR


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What a run was given, and what its tools left behind, each in the order in which it came."""

    inputs: tuple[FileRef, ...] = ()
    artifacts: tuple[FileRef, ...] = ()

    def find(self, file_id: str) -> FileRef | None:
        """The file of that id, whichever it is."""
        return next((file for file in (*self.inputs, *self.artifacts) if file.file_id == file_id), None)


def check(name: str, media_type: str, size: int) -> None:
    """What may be uploaded. Raises `InvalidInput`."""
    check_text(name, "name", MAX_NAME)
    if _UNFIT.search(name) or name != name.strip() or name in _NO_NAMES:
        expected = "a name without folders, control characters and spaces around it"
        raise InvalidInput("invalid_file_name", f"{name!r:.80} is no file's name", field="name", expected=expected)
    if media_type not in MEDIA_TYPES:
        expected = f"one of: {', '.join(sorted(MEDIA_TYPES))}"
        detail = f"files of type {media_type!r:.80} are not taken"
        raise InvalidInput("media_type_not_taken", detail, field="media_type", expected=expected)
    check_range(size, "size", 1, MAX_BYTES)


def no_such_file() -> NotFound:
    """What is said of a file that is nowhere, and of one that is somebody else's."""
    return NotFound("file_not_found", "this account has no file of that id, or has none any more")


def check_inputs(files: Sequence[FileRef]) -> None:
    """What a run may be given together; that it is ten at most, its task says."""
    size = sum(file.size for file in files)
    if size > INPUTS.bytes:
        expected = f"at most {INPUTS.bytes} bytes together"
        raise InvalidInput("files_too_large", f"they have {size} bytes", field="files", expected=expected)


def artifact(run_id: str, name: str, body: bytes, media_type: str) -> FileRef:
    """What a tool left behind. The same content under the same name is the same file. Raises `NoRoom`."""
    if len(body) > MAX_BYTES:
        raise NoRoom(f"the file has {len(body)} bytes, and may have {MAX_BYTES}")
    named = fit(name)
    digest = hashlib.sha256(b"\0".join([run_id.encode(), named.encode(), body])).digest()
    return FileRef(ids.file_id(digest), named, len(body), media_type if media_type in MEDIA_TYPES else OTHER)


def check_room(count: int, size: int, more: FileRef) -> None:
    """Whether a run that has so many artifacts, of so many bytes, may have one more. Raises `NoRoom`."""
    if count >= ARTIFACTS.count or size + more.size > ARTIFACTS.bytes:
        raise NoRoom(f"a run keeps at most {ARTIFACTS.count} files, and {ARTIFACTS.bytes} bytes in them together")


def fit(name: str) -> str:
    """A file's name out of a path that a tool chose: what it is kept under."""
    whole = _UNFIT.sub("_", PurePosixPath(name).name).encode("utf-8", "replace").decode()
    fit = whole.encode()[:MAX_NAME].decode(errors="ignore").strip()
    return fit if fit not in _NO_NAMES else "file"
