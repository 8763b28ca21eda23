"""How AWS clients are made: impatient enough to notice a dead line well within a lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_stepfunctions import SFNClient

TRIED_ONCE = frozenset({"dynamodb", "s3", "ssm", "sesv2"})
"""Services that are called through `retry.Retry` alone, and the one whose mails a second try could double."""

CONNECTIONS = 50


@overload
def client(service: Literal["dynamodb"]) -> DynamoDBClient: ...
@overload
def client(service: Literal["s3"]) -> S3Client: ...
@overload
def client(service: Literal["sesv2"]) -> SESV2Client: ...
@overload
def client(service: Literal["ssm"]) -> SSMClient: ...
@overload
def client(service: Literal["stepfunctions"]) -> SFNClient: ...
def client(service: Literal["dynamodb", "s3", "sesv2", "ssm", "stepfunctions"]) -> Any:
    """A client of the region and endpoint that the environment names."""
    return boto3.client(service, config=_config(tries=1 if service in TRIED_ONCE else 3))


def _config(tries: int) -> Config:
    return Config(
        retries={"mode": "standard", "total_max_attempts": tries},
        connect_timeout=2,
        read_timeout=5,
        tcp_keepalive=True,
        max_pool_connections=CONNECTIONS,
    )
