"""How AWS clients are made: impatient enough to notice a dead line well within a lease."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, overload

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_apigatewaymanagementapi import ApiGatewayManagementApiClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sesv2 import SESV2Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_stepfunctions import SFNClient
    from mypy_boto3_sts import STSClient
    from mypy_boto3_sts.type_defs import CredentialsTypeDef

RETRIED_BY_US = frozenset({"dynamodb", "s3", "ssm"})
"""Services that are called through `retry.Retry` alone."""

TRIED_ONCE = RETRIED_BY_US | {"apigatewaymanagementapi", "sesv2"}
"""A frame that one socket does not take must not keep the others waiting, and comes with the next pump; a mail that is
sent again might be doubled."""

CONNECTIONS = 50

_making = threading.Lock()
"""boto3's default session makes one client at a time; calls of functions run side by side."""


@overload
def client(service: Literal["dynamodb"]) -> DynamoDBClient: ...
@overload
def client(service: Literal["events"]) -> EventBridgeClient: ...
@overload
def client(service: Literal["s3"]) -> S3Client: ...
@overload
def client(service: Literal["sqs"]) -> SQSClient: ...
@overload
def client(service: Literal["sesv2"]) -> SESV2Client: ...
@overload
def client(service: Literal["ssm"]) -> SSMClient: ...
@overload
def client(service: Literal["stepfunctions"]) -> SFNClient: ...
@overload
def client(service: Literal["sts"]) -> STSClient: ...
@overload
def client(service: Literal["apigatewaymanagementapi"], endpoint: str | None) -> ApiGatewayManagementApiClient: ...
def client(
    service: Literal[
        "apigatewaymanagementapi", "dynamodb", "events", "s3", "sesv2", "sqs", "ssm", "stepfunctions", "sts"
    ],
    endpoint: str | None = None,
) -> Any:
    """A client of the region and, unless another is given, of the endpoint that the environment names."""
    return boto3.client(service, endpoint_url=endpoint, config=_config(tries=1 if service in TRIED_ONCE else 3))


def function_client(seconds: float, credentials: CredentialsTypeDef | None) -> LambdaClient:
    """For one call of a function, which is tried once and waited for so long. Without credentials: by our own right."""
    given = credentials or {"AccessKeyId": None, "SecretAccessKey": None, "SessionToken": None}
    with _making:
        return boto3.client(
            "lambda",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=seconds),
            aws_access_key_id=given["AccessKeyId"],
            aws_secret_access_key=given["SecretAccessKey"],
            aws_session_token=given["SessionToken"],
        )


def signing(url: str | None) -> S3Client:
    """A client that signs what others will send: to S3 at `url`, or to AWS's own."""
    style: Any = {"addressing_style": "path" if url else "virtual"}
    with _making:
        return boto3.client("s3", endpoint_url=url, config=Config(signature_version="s3v4", s3=style))


def _config(tries: int) -> Config:
    return Config(
        retries={"mode": "standard", "total_max_attempts": tries},
        connect_timeout=2,
        read_timeout=5,
        tcp_keepalive=True,
        max_pool_connections=CONNECTIONS,
    )
