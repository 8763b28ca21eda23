"""What moto answers is the same, whoever writes it."""

from __future__ import annotations

from typing import Any

import boto3
from moto import mock_aws

from chalicelib.adapters.dynamodb import items
from infra.local import serializing
from tests.builders import a_run

EVERY_KIND: dict[str, Any] = {
    "pk": {"S": "a"},
    "text": {"S": ""},
    "number": {"N": "1.50"},
    "bytes": {"B": b"\x00\xff"},
    "nothing": {"NULL": True},
    "no": {"BOOL": False},
    "texts": {"SS": ["S", "N"]},
    "nested": {"M": {"S": {"L": [{"M": {}}, {"N": "7"}]}, "M": {"S": "M"}, "s": {"S": "x"}}},
}


def answered() -> list[Any]:
    """An item of every kind of attribute and a run, as they come back."""
    client = boto3.client("dynamodb", region_name="us-east-1")
    client.create_table(
        TableName="t",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.put_item(TableName="t", Item=EVERY_KIND)
    client.put_item(TableName="t", Item={**items.run_item(a_run()), "pk": {"S": "run"}})
    found = client.scan(TableName="t")["Items"]
    client.delete_table(TableName="t")
    return sorted(found, key=lambda item: str(item["pk"]))


def test_every_kind_of_attribute_comes_back_as_it_did() -> None:
    with mock_aws():
        slowly = answered()
        with serializing.in_force():
            assert answered() == slowly
    assert slowly[0] == EVERY_KIND
