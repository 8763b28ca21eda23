"""The one table and its indexes, as CloudFormation properties: what is deployed is what the tests create."""

from __future__ import annotations

from typing import Any

from chalicelib.adapters.dynamodb import keys
from infra import stream


def properties() -> dict[str, Any]:
    """The `Properties` of the AWS::DynamoDB::Table."""
    named = (keys.PK, keys.SK, keys.ACCOUNT_PK, keys.ACCOUNT_SK, keys.DUE_PK, keys.DUE_SK, keys.INBOX_PK, keys.INBOX_SK)
    return {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in named],
        "KeySchema": _schema(keys.PK, keys.SK),
        "GlobalSecondaryIndexes": [
            _index(keys.BY_ACCOUNT, keys.ACCOUNT_PK, keys.ACCOUNT_SK, keys.ACCOUNT_PROJECTION),
            _index(keys.BY_DUE, keys.DUE_PK, keys.DUE_SK, ()),
            _index(keys.BY_INBOX, keys.INBOX_PK, keys.INBOX_SK, ()),
        ],
        "StreamSpecification": stream.SPECIFICATION,
        "TimeToLiveSpecification": {"AttributeName": keys.TTL, "Enabled": True},
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "SSESpecification": {"SSEEnabled": True},
    }


def _schema(hash_key: str, range_key: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": hash_key, "KeyType": "HASH"},
        {"AttributeName": range_key, "KeyType": "RANGE"},
    ]


def _index(name: str, hash_key: str, range_key: str, projected: tuple[str, ...]) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": "KEYS_ONLY"}
    if projected:
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(projected)}
    return {"IndexName": name, "KeySchema": _schema(hash_key, range_key), "Projection": projection}
