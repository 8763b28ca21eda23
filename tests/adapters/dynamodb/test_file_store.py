"""Uploads and the files of runs, in table and bucket."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.aws.file_bucket import FileBucket, run_key, upload_key
from chalicelib.adapters.dynamodb.file_store import DynamoFileStore
from chalicelib.adapters.dynamodb.upload_store import DynamoUploadStore
from chalicelib.core import files as rules
from chalicelib.core.errors import NoRoom
from chalicelib.core.files import Bound, RunFiles, Upload
from chalicelib.core.tools import FileRef
from tests.adapters.dynamodb.bad_line import BadLine, answer_lost
from tests.builders import NOON, RUN_ID
from tests.conftest import BUCKET
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

FILE = FileRef("file_00000000000000000000000001", "a.csv", 3, "text/csv")
SECOND = FileRef("file_00000000000000000000000002", "b.csv", 3, "text/csv")
UPLOAD = Upload("acme", FILE, NOON)


@pytest.fixture
def files(line: BadLine, table: str, file_bucket: FileBucket) -> DynamoFileStore:
    return DynamoFileStore(line.as_client, table, bucket=file_bucket, clock=VirtualTime(), chance=CountedChance())


def put(s3: S3Client, file: FileRef, body: bytes = b"a,b") -> None:
    s3.put_object(Bucket=BUCKET, Key=upload_key("acme", file.file_id), Body=body)


def objects(s3: S3Client) -> list[str]:
    found: Any = s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [each["Key"] for each in found]


@pytest.fixture(autouse=True)
def emptied(s3: S3Client) -> None:
    for key in objects(s3):
        s3.delete_object(Bucket=BUCKET, Key=key)


def test_an_upload_is_there_once_it_was_put_whole(uploads: DynamoUploadStore, s3: S3Client) -> None:
    uploads.begin(UPLOAD, 900)
    assert uploads.find("acme", FILE.file_id, NOON) == (UPLOAD, False)

    put(s3, FILE, b"a")
    assert uploads.find("acme", FILE.file_id, NOON) == (UPLOAD, False)

    put(s3, FILE)
    assert uploads.find("acme", FILE.file_id, NOON) == (UPLOAD, True)
    assert uploads.find("globex", FILE.file_id, NOON) is None


def test_an_upload_is_gone_when_its_time_is_over_whenever_the_table_deletes_it(uploads: DynamoUploadStore) -> None:
    uploads.begin(UPLOAD, 900)

    assert uploads.find("acme", FILE.file_id, UPLOAD.expires_at - timedelta(seconds=1)) == (UPLOAD, False)
    assert uploads.find("acme", FILE.file_id, UPLOAD.expires_at) is None


def test_a_deleted_upload_is_gone_from_table_and_bucket(uploads: DynamoUploadStore, s3: S3Client) -> None:
    uploads.begin(UPLOAD, 900)
    put(s3, FILE)

    uploads.delete("acme", FILE.file_id)
    uploads.delete("acme", FILE.file_id)

    assert uploads.find("acme", FILE.file_id, NOON) is None
    assert objects(s3) == []


def test_a_runs_files_are_its_own_whatever_becomes_of_the_uploads(
    files: DynamoFileStore, uploads: DynamoUploadStore, s3: S3Client
) -> None:
    put(s3, FILE)
    put(s3, SECOND, b"c,d")
    files.claim(RUN_ID, "acme", [SECOND, FILE])
    files.claim(RUN_ID, "acme", [SECOND, FILE])
    uploads.delete("acme", FILE.file_id)

    assert files.of_run(RUN_ID) == RunFiles((SECOND, FILE))
    assert [files.read(RUN_ID, file.file_id) for file in (FILE, SECOND)] == [b"a,b", b"c,d"]
    with pytest.raises(KeyError):
        files.read("run_2", FILE.file_id)


def test_what_is_not_there_cannot_be_claimed(files: DynamoFileStore, s3: S3Client) -> None:
    put(s3, FILE)

    with pytest.raises(KeyError, match=SECOND.file_id):
        files.claim(RUN_ID, "acme", [FILE, SECOND])
    with pytest.raises(KeyError, match=FILE.file_id):
        files.claim(RUN_ID, "globex", [FILE])


def test_what_a_tool_leaves_is_kept_once_however_often_it_leaves_it(files: DynamoFileStore) -> None:
    kept = [files.keep(RUN_ID, "acme", "out/plot.png", b"png", "image/png") for _ in range(2)]

    assert kept[0] == kept[1]
    assert files.of_run(RUN_ID) == RunFiles(artifacts=(kept[0],))
    assert files.read(RUN_ID, kept[0].file_id) == b"png"


def kept(files: DynamoFileStore, name: str, size: int = 1) -> FileRef:
    return files.keep(RUN_ID, "acme", name, b"x" * size, "text/plain")


@pytest.mark.parametrize("bound", [Bound(3, 100), Bound(100, 3)], ids=["count", "bytes"])
def test_a_run_keeps_so_many_artifacts_and_no_more(
    files: DynamoFileStore, bound: Bound, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "ARTIFACTS", bound)
    some = tuple(kept(files, f"{number}") for number in range(3))

    with pytest.raises(NoRoom):
        kept(files, "one too many")

    assert files.of_run(RUN_ID).artifacts == some
    assert kept(files, "1") == some[1]


def test_two_tools_at_once_do_not_pass_the_bound_together(
    files: DynamoFileStore, monkeypatch: pytest.MonkeyPatch, file_bucket: FileBucket
) -> None:
    monkeypatch.setattr(rules, "ARTIFACTS", Bound(2, 100))
    kept(files, "first")
    put_it: Callable[..., None] = file_bucket.put
    rivals = ["second"]

    def meanwhile(*args: Any) -> None:
        put_it(*args)
        if rivals:
            kept(files, rivals.pop())

    monkeypatch.setattr(file_bucket, "put", meanwhile)

    with pytest.raises(NoRoom):
        kept(files, "third")

    assert [file.name for file in files.of_run(RUN_ID).artifacts] == ["first", "second"]


def test_a_file_whose_answer_was_lost_counts_once(
    files: DynamoFileStore, line: BadLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "ARTIFACTS", Bound(2, 100))
    line.meets(lambda perform: perform(), lambda perform: perform(), answer_lost())

    kept(files, "first")
    kept(files, "second")

    assert [file.name for file in files.of_run(RUN_ID).artifacts] == ["first", "second"]


def test_the_files_of_a_run_go_with_it_and_no_others(files: DynamoFileStore, s3: S3Client) -> None:
    put(s3, FILE)
    for run_id in (RUN_ID, "run_2"):
        files.claim(run_id, "acme", [FILE])
        files.keep(run_id, "acme", "a", b"x", "text/plain")
    s3.put_object(Bucket=BUCKET, Key=run_key(RUN_ID, "file_without_a_row"), Body=b"x")

    files.delete_of_run(RUN_ID)
    files.delete_of_run(RUN_ID)

    assert files.of_run(RUN_ID) == RunFiles()
    assert len(files.of_run("run_2").artifacts) == 1
    assert [key for key in objects(s3) if RUN_ID in key] == []
    assert len(objects(s3)) == 3
