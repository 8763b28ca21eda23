"""What `--data DIR` keeps: one line a change, on the disk before the change is answered.

A line is a whole change (a transaction is one line), so one that a kill tore apart was never answered: it is cut off.
Each line is synced; that costs about 4 ms on a plain disk, as much as moto's own put.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

Entry = dict[str, Any]


class DataInUse(RuntimeError):  # noqa: N818 - named by what happened
    """Another local cloud keeps its data in this directory."""


class JournalDamaged(RuntimeError):  # noqa: N818
    """A line in the middle of the journal is no entry. It was not written by a local cloud that was killed."""


class JournalClosed(RuntimeError):  # noqa: N818
    """The local cloud is going down: what still runs can change nothing any more."""


@dataclass
class Kept:
    """What the entries of a journal come to."""

    items: dict[tuple[str, str], Entry] = field(default_factory=dict)
    objects: dict[tuple[str, str], Entry] = field(default_factory=dict)
    executions: dict[str, Entry] = field(default_factory=dict)

    def apply(self, entry: Entry) -> None:
        for write in entry.get("items", ()):
            _place(
                self.items,
                (write["table"], json.dumps(write["key"], sort_keys=True, default=_encoded)),
                write,
                write["item"],
            )
        for write in entry.get("objects", ()):
            _place(self.objects, (write["bucket"], write["key"]), write, write["body"])
        for execution in entry.get("started", ()):
            self.executions[execution["executionArn"]] = execution
        for arn in entry.get("ended", ()):
            self.executions.pop(arn, None)

    def entries(self) -> list[Entry]:
        """The fewest entries that come to the same."""
        items, objects = ({"items": [each]} for each in self.items.values()), self.objects.values()
        return [*items, *({"objects": [each]} for each in objects), {"started": list(self.executions.values())}]


class Journal:
    """The open journal of a directory that nobody else uses. Opening it reads what is there and compacts it."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._claim = _claim(directory / "lock")
        self._lock = threading.Lock()
        try:
            self.kept = _compacted(directory / "journal.jsonl")
            self._file: BinaryIO | None = (directory / "journal.jsonl").open("ab", buffering=0)
        except BaseException:
            self._claim.close()
            raise

    def write(self, **entry: Any) -> None:
        """Keep a change. Raises `JournalClosed`, so that no change is answered which is not kept."""
        line = _line(entry)
        with self._lock:
            if self._file is None:
                raise JournalClosed
            self._file.write(line)
            os.fsync(self._file.fileno())

    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._claim.close()
            self._file = None


def read(path: Path) -> Kept:
    """What a journal comes to, without its torn last line if it has one."""
    kept = Kept()
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            entry = json.loads(line, object_hook=_decoded)
        except ValueError:
            raise JournalDamaged(f"{path}, line {number}") from None
        kept.apply(entry)
    return kept


def _compacted(path: Path) -> Kept:
    kept = read(path) if path.exists() else Kept()
    _replace(path, kept.entries())
    return kept


def _place(into: dict[Any, Entry], place: Any, write: Entry, content: Any) -> None:
    if content is None:
        into.pop(place, None)
    else:
        into[place] = write


def _claim(path: Path) -> BinaryIO:
    file = path.open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise DataInUse(str(path.parent)) from None
    return file


def _replace(path: Path, entries: list[Entry]) -> None:
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.writelines(_line(entry) for entry in entries)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, separators=(",", ":"), default=_encoded).encode() + b"\n"


def _encoded(content: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(content).decode()}


def _decoded(read: dict[str, Any]) -> dict[str, Any] | bytes:
    # DynamoDB's JSON has no such object: what stands in an item under a name is a type and a value.
    return base64.b64decode(read["base64"]) if list(read) == ["base64"] else read
