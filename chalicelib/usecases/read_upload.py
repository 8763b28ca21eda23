"""Whether an announced file is there."""

from __future__ import annotations

from chalicelib.core import files as rules
from chalicelib.core import ids
from chalicelib.core.files import Upload
from chalicelib.ports.clock import Clock
from chalicelib.ports.upload_store import UploadStore


def read_upload(file_id: str, *, account_id: str, uploads: UploadStore, clock: Clock) -> tuple[Upload, bool]:
    """The upload, and whether its file is there. Raises `NotFound`."""
    found = uploads.find(account_id, file_id, clock.now()) if ids.is_file_id(file_id) else None
    if found is None:
        raise rules.no_such_file()
    return found
