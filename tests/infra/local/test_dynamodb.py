"""One lock, an undo list and a word before each answer, over moto's real DynamoDB."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.table import Table
from moto.server import ThreadedMotoServer

from infra.local.dynamodb import Serial, Write, delete_expired, load

REGION = "us-east-1"
NOT_THERE = "attribute_not_exists(pk)"


class Room:
    """A table under the lock, and what was told of it."""

    def __init__(self) -> None:
        self.told: list[Sequence[Write]] = []
        self.fault: Exception | None = None
        self.serial = Serial(self._committed)
        self.client = a_client()
        self.client.create_table(
            TableName="log",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            BillingMode="PAY_PER_REQUEST",
        )

    def _committed(self, writes: Sequence[Write]) -> None:
        if self.fault:
            raise self.fault
        self.told.append(writes)

    @property
    def table(self) -> Table:
        return dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables["log"]

    def put(self, sk: str, **attributes: Any) -> None:
        self.client.put_item(TableName="log", Item=an_item(sk, **attributes))

    def get(self, sk: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.client.get_item(TableName="log", Key=an_item(sk)).get("Item")
        return found


def a_client(**options: Any) -> Any:
    return boto3.client("dynamodb", region_name=REGION, **options)


def an_item(sk: str, **attributes: Any) -> dict[str, Any]:
    return {"pk": {"S": "run"}, "sk": {"S": sk}, **attributes}


@contextmanager
def losing_is_fine() -> Iterator[None]:
    # Not `client.exceptions`: threads that ask for it at the same time get different classes of one name.
    try:
        yield
    except ClientError as fault:
        if fault.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise


@pytest.fixture
def room() -> Iterator[Room]:
    with mock_aws():
        room = Room()
        with room.serial.in_force():
            yield room


def winners(clients: Sequence[Any], race: int) -> int:
    won: list[bool] = []
    gate = threading.Barrier(len(clients))

    def compete(client: Any) -> None:
        gate.wait()
        with losing_is_fine():
            client.put_item(TableName="log", Item=an_item(str(race)), ConditionExpression=NOT_THERE)
            won.append(True)

    threads = [threading.Thread(target=compete, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(won)


def test_of_eight_conditional_puts_at_once_one_wins_in_each_of_100_races(room: Room) -> None:
    assert [winners([room.client] * 8, race) for race in range(100)] == [1] * 100


def test_those_who_come_over_loopback_and_those_in_process_pass_the_same_lock(room: Room) -> None:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        outside = a_client(endpoint_url=f"http://{host}:{port}", aws_access_key_id="a", aws_secret_access_key="b")
        assert [winners([room.client, outside] * 3, race) for race in range(20)] == [1] * 20
    finally:
        server.stop()


def test_four_threads_that_compare_and_set_lose_no_update(room: Room) -> None:
    room.put("counter", n={"N": "0"})

    def raise_by(times: int) -> None:
        while times:
            item = room.get("counter")
            assert item is not None
            with losing_is_fine():
                room.client.update_item(
                    TableName="log",
                    Key=an_item("counter"),
                    UpdateExpression="SET n = :next",
                    ConditionExpression="n = :read",
                    ExpressionAttributeValues={":read": item["n"], ":next": {"N": str(int(item["n"]["N"]) + 1)}},
                )
                times -= 1

    threads = [threading.Thread(target=raise_by, args=(10,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.get("counter") == an_item("counter", n={"N": "40"})


def transact(room: Room, *items: dict[str, Any]) -> None:
    room.client.transact_write_items(TransactItems=list(items))


def an_update(sk: str, value: str, condition: str = "attribute_exists(pk)") -> dict[str, Any]:
    return {
        "Update": {
            "TableName": "log",
            "Key": an_item(sk),
            "UpdateExpression": "SET v = :v",
            "ConditionExpression": condition,
            "ExpressionAttributeValues": {":v": {"S": value}},
        }
    }


def a_put(sk: str, **attributes: Any) -> dict[str, Any]:
    return {
        "Put": {
            "TableName": "log",
            "Item": an_item(sk, **attributes),
            "ConditionExpression": NOT_THERE,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }


def a_delete(sk: str) -> dict[str, Any]:
    return {"Delete": {"TableName": "log", "Key": an_item(sk)}}


def test_a_transaction_that_fails_leaves_everything_as_it_was(room: Room) -> None:
    room.put("changed", v={"S": "old"})
    room.put("deleted", v={"S": "there"})
    room.put("taken", v={"S": "mine"})
    with pytest.raises(ClientError) as caught:
        transact(room, an_update("changed", "new"), a_delete("deleted"), a_put("new"), a_put("taken"))
    assert caught.value.response["Error"]["Code"] == "TransactionCanceledException"
    assert room.get("changed") == an_item("changed", v={"S": "old"})
    assert room.get("deleted") == an_item("deleted", v={"S": "there"})
    assert room.get("new") is None
    assert len(room.told) == 3


def test_a_cancelled_transaction_says_which_item_stood_in_its_way(room: Room) -> None:
    room.put("taken", v={"S": "mine"})
    with pytest.raises(ClientError) as caught:
        transact(room, a_put("free"), a_put("taken"))
    reasons = caught.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert reasons[1]["Item"] == an_item("taken", v={"S": "mine"})


def test_a_transaction_that_succeeds_is_told_of_once_with_all_its_items(room: Room) -> None:
    room.put("changed", v={"S": "old"})
    room.put("deleted")
    transact(room, an_update("changed", "new"), a_delete("deleted"), a_put("new"))
    assert room.told[-1] == [
        Write("log", an_item("changed"), an_item("changed", v={"S": "new"})),
        Write("log", an_item("deleted"), None),
        Write("log", an_item("new"), an_item("new")),
    ]


def test_a_transaction_does_not_copy_its_table(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(table: Table, memo: Any) -> Any:
        raise AssertionError(f"{table.name} was copied")

    monkeypatch.setattr(Table, "__deepcopy__", refuse, raising=False)
    transact(room, a_put("one"), a_put("two"))
    assert room.get("two") == an_item("two")


def test_an_update_that_breaks_off_half_way_changes_nothing(room: Room) -> None:
    room.put("one", v={"S": "old"})
    with pytest.raises(ClientError):
        room.client.update_item(
            TableName="log",
            Key=an_item("one"),
            UpdateExpression="SET v = :v, n = missing + :one",
            ExpressionAttributeValues={":v": {"S": "new"}, ":one": {"N": "1"}},
        )
    assert room.get("one") == an_item("one", v={"S": "old"})
    assert len(room.told) == 1


def test_a_write_that_cannot_be_told_of_did_not_happen(room: Room) -> None:
    room.put("one", v={"S": "old"})
    room.fault = OSError("the disk is full")
    with pytest.raises(OSError, match="full"):
        room.put("one", v={"S": "new"})
    room.fault = None
    assert room.get("one") == an_item("one", v={"S": "old"})


def test_a_query_costs_what_its_partition_holds_and_not_what_the_table_does(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        room.put(str(number))
    asked = {
        "TableName": "log",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": an_item("0")["pk"]},
        "ScanIndexForward": False,
    }
    looks = counted_looks(monkeypatch)
    first = [item["sk"]["S"] for item in room.client.query(**asked)["Items"]]
    in_a_small_table = len(looks)
    for number in range(300):
        room.client.put_item(TableName="log", Item={"pk": {"S": f"other-{number}"}, "sk": {"S": "0"}})
    looks.clear()
    assert [item["sk"]["S"] for item in room.client.query(**asked)["Items"]] == first == ["2", "1", "0"]
    assert len(looks) == in_a_small_table > 0


def counted_looks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each time that moto looks at a key or an attribute."""
    looks: list[object] = []
    read: Any = vars(DynamoType)["cast_value"]

    def counted(value: DynamoType) -> Any:
        looks.append(value)
        return read.fget(value)

    monkeypatch.setattr(DynamoType, "cast_value", property(counted))
    return looks


def test_reads_are_not_told_of(room: Room) -> None:
    room.get("nothing")
    room.client.query(
        TableName="log", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "run"}}
    )
    assert room.told == []


def test_what_is_told_can_be_loaded_into_a_fresh_table_byte_for_byte(room: Room) -> None:
    attributes = {
        "b": {"B": b"\x00\xff"},
        "m": {"M": {"l": {"L": [{"N": "1.5"}, {"NULL": True}, {"B": b"\x01"}]}}},
        "ss": {"SS": ["a", "b"]},
        "flag": {"BOOL": False},
    }
    room.put("one", **attributes)
    written = room.get("one")
    (write,) = room.told[0]
    assert write.item is not None
    room.client.delete_item(TableName="log", Key=write.key)
    load(room.table, [write.item])
    assert room.get("one") == written == an_item("one", **attributes)


def test_items_whose_time_is_over_are_deleted_and_told_of(room: Room) -> None:
    room.put("old", expires_at={"N": "99"})
    room.put("young", expires_at={"N": "101"})
    room.put("for ever")
    assert delete_expired(room.serial, room.table, "expires_at", 100) == 1
    assert room.get("old") is None
    assert room.get("young") is not None
    assert room.get("for ever") is not None
    assert room.told[-1] == [Write("log", an_item("old"), None)]
