"""Take an uploaded file away; runs that were given it keep their copies."""

from __future__ import annotations

from chalicelib.ports.clock import Clock
from chalicelib.ports.upload_store import UploadStore
from chalicelib.usecases.read_upload import read_upload


def delete_upload(file_id: str, *, account_id: str, uploads: UploadStore, clock: Clock) -> None:
    """Raises `NotFound`."""
    read_upload(file_id, account_id=account_id, uploads=uploads, clock=clock)
    uploads.delete(account_id, file_id)
