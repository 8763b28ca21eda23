"""The files of runs: a row for each in the table, beside the total of what tools left; the files are in the bucket.

A file is in the bucket before its row stands, and gone before its row is: whoever has the rows finds every file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.file_bucket import FileBucket, run_key, run_prefix, upload_key
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, file_items, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Cancelled, Put, Refused, Table, Update
from chalicelib.core import files as rules
from chalicelib.core.errors import Unavailable
from chalicelib.core.files import RunFiles
from chalicelib.core.tools import FileRef
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Item

INPUT, ARTIFACT = "input", "artifact"

TRIES = 20
"""Each one lost is a file of another tool of the same run."""


class DynamoFileStore:
    """A `FileStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, bucket: FileBucket, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))
        self._bucket = bucket
        self._clock = clock

    def claim(self, run_id: str, account_id: str, files: Sequence[FileRef]) -> None:
        for place, file in enumerate(files):
            try:
                self._bucket.copy(upload_key(account_id, file.file_id), run_key(run_id, file.file_id))
            except KeyError as gone:
                raise KeyError(file.file_id) from gone
            with contextlib.suppress(Refused):
                row = self._row(run_id, account_id, file, INPUT) | {"place": items.number(place)}
                self._table.put(Put(row, conditions.NOTHING_STANDS_THERE))

    def of_run(self, run_id: str) -> RunFiles:
        rows = sorted(self._rows(run_id), key=_order)
        inputs, artifacts = (tuple(_file(row) for row in rows if _kind(row) == kind) for kind in (INPUT, ARTIFACT))
        return RunFiles(inputs, artifacts)

    def read(self, run_id: str, file_id: str) -> bytes:
        return self._bucket.get(run_key(run_id, file_id))

    def keep(self, run_id: str, account_id: str, name: str, body: bytes, media_type: str) -> FileRef:
        file = rules.artifact(run_id, name, body, media_type)
        for _ in range(TRIES):
            total = self._table.get(keys.run_files_total(run_id))
            if self._is_kept(run_id, file):
                return file
            count, size = (int(total[name]["N"]) for name in ("count", "bytes")) if total else (0, 0)
            rules.check_room(count, size, file)
            self._bucket.put(run_key(run_id, file.file_id), body, file.media_type)
            if self._count(run_id, account_id, file, count, size):
                return file
        raise Unavailable(f"{run_id} was given other files {TRIES} times in a row")

    def link(self, run_id: str, file: FileRef, seconds: int) -> str:
        return self._bucket.link(run_id, file, seconds)

    def delete_of_run(self, run_id: str) -> None:
        for row in self._rows(run_id):
            file_id = _file(row).file_id
            self._bucket.delete(run_key(run_id, file_id))
            self._table.delete(keys.run_file(run_id, file_id))
        self._table.delete(keys.run_files_total(run_id))
        # What has no row was left by somebody who died before writing it.
        self._bucket.delete_under(run_prefix(run_id))

    def _is_kept(self, run_id: str, file: FileRef) -> bool:
        """Whether the run has the file already; if so, it is its latest again."""
        again = {"kept_at": items.moment(self._clock.now())}
        try:
            self._table.update(Update(keys.run_file(run_id, file.file_id), again, conditions.IT_IS_THERE))
        except Refused:
            return False
        return True

    def _count(self, run_id: str, account_id: str, file: FileRef, count: int, size: int) -> bool:
        """Write the row, if the total is still what was read; whether it was."""
        total = items.key(keys.run_files_total(run_id)) | {
            "count": items.number(count + 1),
            "bytes": items.number(size + file.size),
        }
        row = self._row(run_id, account_id, file, ARTIFACT)
        try:
            self._table.transact(
                Put(row, conditions.NOTHING_STANDS_THERE), Put(total, conditions.there_are_so_many(count))
            )
        except Cancelled:
            return False
        return True

    def _row(self, run_id: str, account_id: str, file: FileRef, kind: str) -> dict[str, items.Attribute]:
        return items.key(keys.run_file(run_id, file.file_id)) | {
            "account_id": items.text(account_id),
            "file": file_items.attribute(file),
            "kind": items.text(kind),
            "kept_at": items.moment(self._clock.now()),
        }

    def _rows(self, run_id: str) -> Sequence[Item]:
        rows = Expression(
            f"#{keys.PK} = :run AND begins_with(#{keys.SK}, :files)",
            {":run": items.text(keys.run_files(run_id)), ":files": items.text(keys.FILES_SK)},
        )
        return self._table.query_all(rows, strong=True)


def _file(row: Item) -> FileRef:
    return file_items.read(row["file"])


def _kind(row: Item) -> str:
    return row["kind"]["S"]


def _order(row: Item) -> tuple[int, str, str]:
    place = int(row["place"]["N"]) if "place" in row else 0
    return place, row["kept_at"]["S"], _file(row).name
