"""Let a file in."""

from __future__ import annotations

from chalicelib.core import files as rules
from chalicelib.core import ids
from chalicelib.core.files import Upload
from chalicelib.core.tools import FileRef
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.upload_store import Form, UploadStore


def begin_upload(
    name: str, media_type: str, size: int, *, account_id: str, uploads: UploadStore, clock: Clock, chance: Chance
) -> tuple[Upload, Form]:
    """Announce a file of the account; the form by which it is put. Raises `InvalidInput`."""
    rules.check(name, media_type, size)
    file = FileRef(ids.file_id(chance.bytes(16)), name, size, media_type)
    upload = Upload(account_id, file, clock.now())
    return upload, uploads.begin(upload, int(rules.UPLOAD_WITHIN.total_seconds()))
