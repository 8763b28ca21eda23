"""Uploads: what was said of each in the table, until it expires, and the file itself in the bucket."""

from __future__ import annotations

import contextlib
import math
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.file_bucket import FileBucket, upload_key
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, file_items, items, keys
from chalicelib.adapters.dynamodb.table import Put, Refused, Table
from chalicelib.core.files import Upload
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.upload_store import Form

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoUploadStore:
    """An `UploadStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, bucket: FileBucket, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))
        self._bucket = bucket

    def begin(self, upload: Upload, seconds: int) -> Form:
        item = items.key(keys.upload(upload.account_id, upload.file.file_id)) | {
            "file": file_items.attribute(upload.file),
            "created_at": items.moment(upload.created_at),
            keys.TTL: items.number(math.ceil(upload.expires_at.timestamp())),
        }
        # Ids of 128 bits of chance do not meet: what stands there is the same, kept by a try whose answer was lost.
        with contextlib.suppress(Refused):
            self._table.put(Put(item, conditions.NOTHING_STANDS_THERE))
        return self._bucket.form(upload.account_id, upload.file, seconds)

    def find(self, account_id: str, file_id: str, now: datetime) -> tuple[Upload, bool] | None:
        item = self._table.get(keys.upload(account_id, file_id))
        if item is None:
            return None
        upload = Upload(account_id, file_items.read(item["file"]), items.read_moment(item["created_at"]))
        if upload.expires_at <= now:
            return None
        return upload, self._bucket.size(upload_key(account_id, file_id)) == upload.file.size

    def delete(self, account_id: str, file_id: str) -> None:
        self._bucket.delete(upload_key(account_id, file_id))
        self._table.delete(keys.upload(account_id, file_id))
