"""The table's stream and the function behind it."""

from __future__ import annotations

import pytest

from tests.infra.local import standin
from tests.infra.local.conftest import BringUp


def test_stream_records_reach_their_function_outside_the_write_and_in_order(bring_up: BringUp) -> None:
    cloud = bring_up(template=standin.template(Stream=standin.STREAM))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    for number in range(3):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": str(number)}})
    seen = [
        record["dynamodb"]["Keys"]["sk"]["S"] for _ in range(3) for record in standin.heard.get(timeout=10)["Records"]
    ]
    assert seen == ["0", "1", "2"]


def test_a_transaction_that_fails_puts_nothing_into_the_stream(bring_up: BringUp) -> None:
    cloud = bring_up(template=standin.template(Stream=standin.STREAM))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    taken = {"pk": {"S": "a"}, "sk": {"S": "taken"}}
    client.put_item(TableName=table, Item=taken)
    put = {"TableName": table, "ConditionExpression": "attribute_not_exists(pk)"}
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(
            TransactItems=[{"Put": {**put, "Item": {**taken, "sk": {"S": "new"}}}}, {"Put": {**put, "Item": taken}}]
        )
    client.delete_item(TableName=table, Key=taken)
    told = [standin.heard.get(timeout=10)["Records"][0]["eventName"] for _ in range(2)]
    assert told == ["INSERT", "REMOVE"]
