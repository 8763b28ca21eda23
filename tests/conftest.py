"""One mocked AWS for the tests of a module, and for each test a table of its own, made of what is deployed.

Not one for all modules: moto keeps one world in a process, and a local cloud that another module brings up is one too.

moto's conditional writes are not atomic between threads: tests interleave by hand.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from moto import mock_aws

from chalicelib.adapters.aws.clients import client, signing
from chalicelib.adapters.aws.file_bucket import FileBucket
from chalicelib.adapters.aws.payload_store import S3PayloadStore
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.adapters.dynamodb.file_store import DynamoFileStore
from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.adapters.dynamodb.upload_store import DynamoUploadStore
from chalicelib.ports.payload_store import PayloadStore
from infra.local import serializing
from tests.fresh_table import fresh_table
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

# boto3 and moto make and drop a great deal beside much that stays: looking for circles in all of it is time lost.
gc.set_threshold(200_000, 50, 100)

# How long an example takes says something about the machine, which is busy, and nothing about what is tested.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REGION = "us-east-1"
BUCKET = "payloads"


@pytest.fixture(scope="module")
def aws() -> Iterator[None]:
    """The mocked AWS. Whoever makes a client asks for it first."""
    with pytest.MonkeyPatch.context() as env, mock_aws(), serializing.in_force():
        env.setenv("AWS_DEFAULT_REGION", REGION)
        env.delenv("AWS_ENDPOINT_URL", raising=False)
        yield


@pytest.fixture(scope="module")
def dynamodb(aws: None) -> DynamoDBClient:
    return client("dynamodb")


@pytest.fixture(scope="module")
def s3(aws: None) -> S3Client:
    made = client("s3")
    made.create_bucket(Bucket=BUCKET)
    return made


@pytest.fixture
def table(dynamodb: DynamoDBClient) -> Iterator[str]:
    """The name of an empty table."""
    with fresh_table(dynamodb) as name:
        yield name


@pytest.fixture
def payloads(s3: S3Client) -> PayloadStore:
    return S3PayloadStore(s3, BUCKET, Retry(VirtualTime(), CountedChance()))


@pytest.fixture
def runs(dynamodb: DynamoDBClient, table: str, payloads: PayloadStore) -> DynamoRunStore:
    return DynamoRunStore(dynamodb, table, payloads=payloads, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def slots(dynamodb: DynamoDBClient, table: str) -> DynamoSlotStore:
    return DynamoSlotStore(dynamodb, table, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def api_keys(dynamodb: DynamoDBClient, table: str) -> DynamoKeyStore:
    return DynamoKeyStore(dynamodb, table, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def file_bucket(s3: S3Client) -> FileBucket:
    return FileBucket(lambda: s3, lambda: signing(None), BUCKET, Retry(VirtualTime(), CountedChance()))


@pytest.fixture
def uploads(dynamodb: DynamoDBClient, table: str, file_bucket: FileBucket) -> DynamoUploadStore:
    return DynamoUploadStore(dynamodb, table, bucket=file_bucket, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def files(dynamodb: DynamoDBClient, table: str, file_bucket: FileBucket) -> DynamoFileStore:
    return DynamoFileStore(dynamodb, table, bucket=file_bucket, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def own_agents(dynamodb: DynamoDBClient, table: str) -> DynamoAgentStore:
    return DynamoAgentStore(dynamodb, table, clock=VirtualTime(), chance=CountedChance())
