"""A run's files by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.aws.file_bucket import upload_key
from chalicelib.adapters.dynamodb.file_store import DynamoFileStore
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.named_files import NamedFiles
from chalicelib.adapters.tools.toolbox import ToolProblem
from chalicelib.core import files as rules
from chalicelib.core.files import Bound
from chalicelib.core.tools import FileRef
from tests.builders import RUN_ID, a_run, accepted
from tests.conftest import BUCKET
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

    from chalicelib.adapters.aws.file_bucket import FileBucket

GIVEN = FileRef("file_00000000000000000000000001", "takings.csv", 3, "text/csv")


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
def files(dynamodb: DynamoDBClient, table: str, file_bucket: FileBucket, time: VirtualTime) -> DynamoFileStore:
    return DynamoFileStore(dynamodb, table, bucket=file_bucket, clock=time, chance=CountedChance())


@pytest.fixture
def named(files: DynamoFileStore, runs: DynamoRunStore) -> NamedFiles:
    runs.create(a_run(), accepted(), None)
    return NamedFiles(files, runs)


def test_code_finds_what_its_run_was_given_and_what_calls_before_it_left(
    named: NamedFiles, files: DynamoFileStore, s3: S3Client
) -> None:
    s3.put_object(Bucket=BUCKET, Key=upload_key("acme", GIVEN.file_id), Body=b"a,b")
    files.claim(RUN_ID, "acme", [GIVEN])
    kept = named.keep(RUN_ID, "out/sum.csv", b"2")

    assert (kept.name, kept.media_type) == ("sum.csv", "text/csv")
    assert named.content(RUN_ID, "takings.csv") == b"a,b"
    assert named.content(RUN_ID, "sum.csv") == named.content(RUN_ID, "out/sum.csv") == b"2"
    assert files.of_run(RUN_ID).artifacts == (kept,)
    with pytest.raises(KeyError):
        named.content(RUN_ID, "nothing.csv")


def test_of_several_files_of_one_name_the_last_one_counts(named: NamedFiles, time: VirtualTime) -> None:
    for content in (b"1", b"2", b"1"):
        named.keep(RUN_ID, "sum.csv", content)
        time.advance(1)

        assert named.content(RUN_ID, "sum.csv") == content


def test_a_file_that_finds_no_room_is_a_sentence_for_the_model(
    named: NamedFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "ARTIFACTS", Bound(0, 0))

    with pytest.raises(ToolProblem, match=r"sum\.csv.*was not kept"):
        named.keep(RUN_ID, "sum.csv", b"2")
