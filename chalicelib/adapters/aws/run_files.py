"""The files of runs, beside the payloads in the bucket."""

from __future__ import annotations

import hashlib
import mimetypes

from chalicelib.core.tools import FileRef
from chalicelib.ports.payload_store import PayloadStore

UNKNOWN = "application/octet-stream"


class BucketFiles:
    """A `RunFiles` that finds a file by its name: the key is made of it."""

    def __init__(self, store: PayloadStore) -> None:
        self._store = store

    def content(self, run_id: str, name: str) -> bytes:
        return self._store.get(_key(run_id, name))

    def keep(self, run_id: str, name: str, content: bytes) -> FileRef:
        self._store.put(_key(run_id, name), content)
        return FileRef(_file_id(name), name, len(content), mimetypes.guess_type(name)[0] or UNKNOWN)


def _key(run_id: str, name: str) -> str:
    return f"files/{run_id}/{_file_id(name)}"


def _file_id(name: str) -> str:
    """A name may hold what a key should not."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
