"""A table with the keys and indexes that are deployed, for as long as it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

from infra import table as deployed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_AT_CREATION = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")

_number = count(1)


@contextmanager
def fresh_table(client: DynamoDBClient) -> Iterator[str]:
    """An empty table's name; the table goes with the block."""
    name = f"table-{next(_number)}"
    properties = deployed.properties()
    client.create_table(TableName=name, **{each: properties[each] for each in _AT_CREATION})
    yield name
    client.delete_table(TableName=name)
