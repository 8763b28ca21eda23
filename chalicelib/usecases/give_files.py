"""Give a run the files that its task names, before the run stands: a run that stands has its files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from chalicelib.core import files as rules
from chalicelib.core import ids
from chalicelib.core.errors import InvalidInput
from chalicelib.core.run import Run
from chalicelib.core.tools import FileRef
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.upload_store import UploadStore


def give(
    run: Run, file_ids: Sequence[str], now: datetime, *, uploads: UploadStore, files: FileStore
) -> tuple[FileRef, ...]:
    """Copy the uploads to the run. Raises `InvalidInput` for one that the account does not have, or has not put."""
    found = tuple(_found(f"files[{place}]", run, file_id, now, uploads) for place, file_id in enumerate(file_ids))
    rules.check_inputs(found)
    try:
        if found:
            files.claim(run.run_id, run.account_id, found)
    except KeyError as gone:
        files.delete_of_run(run.run_id)
        raise _not_there(f"files[{file_ids.index(gone.args[0])}]") from gone
    return found


def _found(field: str, run: Run, file_id: str, now: datetime, uploads: UploadStore) -> FileRef:
    found = uploads.find(run.account_id, file_id, now) if ids.is_file_id(file_id) else None
    if found is None:
        expected = "the id of a file that was uploaded within a day"
        raise InvalidInput("unknown_file", "this account has no such file", field=field, expected=expected)
    upload, is_there = found
    if not is_there:
        raise _not_there(field)
    return upload.file


def _not_there(field: str) -> InvalidInput:
    detail, expected = "the file was announced and is not there", "a file that was put"
    return InvalidInput("file_not_uploaded", detail, field=field, expected=expected)
