"""The table's stream and the functions behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from infra.local.cloud import LocalCloud
from infra.local.functions import Function, Outcome
from infra.local.lambdas import CLOSING
from infra.local.streams import Consumer, Streams
from tests.infra.local import standin
from tests.infra.local.conftest import BringUp, options

ONLY_NEW_ONES = {
    "Filters": [{"Pattern": json.dumps({"eventName": ["INSERT"], "dynamodb": {"Keys": {"pk": {"S": ["a"]}}}})}]
}


def _mapping(**more: Any) -> dict[str, Any]:
    return {**standin.STREAM, "Properties": {**standin.STREAM["Properties"], **more}}


def _heard(records: int) -> Iterator[Any]:
    """So many records, however they are bundled."""
    while records > 0:
        for record in standin.heard.get(timeout=10)["Records"]:
            records -= 1
            yield record


def test_stream_records_reach_their_function_outside_the_write_and_in_order(bring_up: BringUp) -> None:
    cloud = bring_up(template=standin.template(Stream=standin.STREAM))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    for number in range(3):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": str(number)}})
    assert [record["dynamodb"]["Keys"]["sk"]["S"] for record in _heard(3)] == ["0", "1", "2"]


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
    assert [record["eventName"] for record in _heard(2)] == ["INSERT", "REMOVE"]


def test_a_record_that_no_pattern_of_the_mapping_matches_wakes_nobody(bring_up: BringUp) -> None:
    cloud = bring_up(template=standin.template(Stream=_mapping(FilterCriteria=ONLY_NEW_ONES)))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    for partition, name in (("b", "0"), ("a", "1"), ("b", "2"), ("a", "3")):
        client.put_item(TableName=table, Item={"pk": {"S": partition}, "sk": {"S": name}})
    assert [record["dynamodb"]["Keys"]["sk"]["S"] for record in _heard(2)] == ["1", "3"]


def test_a_batch_that_fails_is_tried_again_and_the_next_one_comes_after_it(bring_up: BringUp) -> None:
    cloud = bring_up(template=standin.template(Stream=_mapping(MaximumRetryAttempts=2, BatchSize=1)))
    client = cloud.client("dynamodb")
    (table,) = client.list_tables()["TableNames"]
    standin.faults += [RuntimeError("first"), RuntimeError("second")]
    for number in range(2):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": str(number)}})
    assert [record["dynamodb"]["Keys"]["sk"]["S"] for record in _heard(4)] == ["0", "0", "0", "1"]


def test_what_cannot_be_handed_over_any_more_is_no_news_and_nothing_is_tried_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    function = Function("hear", "arn", "a.hear", {}, 1, 128)
    at_hand, closed, tried = threading.Event(), threading.Event(), SimpleQueue[Any]()

    def refuse(_function: Function, event: Any) -> Outcome:
        tried.put(event)
        at_hand.set()
        assert closed.wait(10)
        return CLOSING

    streams = Streams({"arn": Consumer((), batch=1, retries=0)}, refuse)
    streams.send(function, {"Records": [{"n": 1}, {"n": 2}]})
    assert at_hand.wait(10)
    (reader,) = (each for each in threading.enumerate() if each.name == "stream of hear")
    streams.close()
    closed.set()
    reader.join(10)
    assert (tried.qsize(), caplog.messages, reader.is_alive()) == (1, [], False)


def test_what_is_there_from_before_a_restart_wakes_nobody(tmp_path: Path) -> None:
    kept = {"template": standin.template(Stream=standin.STREAM), "data": tmp_path}
    for name in ("first", "second"):
        with LocalCloud(options(**kept)) as cloud:
            client = cloud.client("dynamodb")
            (table,) = client.list_tables()["TableNames"]
            client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": name}})
            [record] = _heard(1)
            assert record["dynamodb"]["Keys"]["sk"]["S"] == name
