"""Files on their way in: who said what of them, and where they are to be put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from chalicelib.core.files import Upload


@dataclass(frozen=True, slots=True)
class Form:
    """How a file is put: a POST of multipart/form-data to `url`, with `fields` before the `file`."""

    url: str
    fields: Mapping[str, str]


class UploadStore(Protocol):
    def begin(self, upload: Upload, seconds: int) -> Form:
        """Keep what is known of a file, and say how it is put within so many seconds: of that size and type only."""

    def find(self, account_id: str, file_id: str, now: datetime) -> tuple[Upload, bool] | None:
        """The upload, and whether the file is there; None if the account has none of that id, or has none any more."""

    def delete(self, account_id: str, file_id: str) -> None:
        """Delete the file and what is known of it."""
