"""Sockets and what they watch, in DynamoDB.

A watch stands twice: with its run, where it is found when the log goes on, and on its connection, where it is found
when that ends. The one on the connection is written first and deleted last, so that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Put, Refused, Table, Update
from chalicelib.core.api_key import Scope
from chalicelib.core.watch import Connection, Watch
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Attribute, Item


class DynamoWatchStore:
    """A `WatchStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def connect(self, connection: Connection) -> None:
        self._table.put(Put(_connection_item(connection)))

    def connection(self, connection_id: str) -> tuple[Connection, frozenset[str]] | None:
        found = self._table.query_all(_all_of(keys.socket_partition(connection_id)), strong=True)
        run_ids = frozenset(item["run_id"]["S"] for item in found if not _is_connection(item))
        connections = [_read_connection(item) for item in found if _is_connection(item)]
        return (connections[0], run_ids) if connections else None

    def disconnect(self, connection_id: str) -> None:
        for item in self._table.query_all(_all_of(keys.socket_partition(connection_id)), strong=True):
            if _is_connection(item):
                self._table.delete(keys.socket(connection_id))
            else:
                self.unsubscribe(connection_id, item["run_id"]["S"])

    def subscribe(self, watch: Watch) -> None:
        expiry = {keys.TTL: _seconds(watch.expires_at)}
        on_socket = items.key(keys.socket_watch(watch.connection_id, watch.run_id))
        self._table.put(Put(on_socket | {"run_id": items.text(watch.run_id)} | expiry))
        self._table.put(Put(_watch_item(watch)))

    def unsubscribe(self, connection_id: str, run_id: str) -> None:
        self._table.delete(keys.watch(run_id, connection_id))
        self._table.delete(keys.socket_watch(connection_id, run_id))

    def find(self, connection_id: str, run_id: str) -> Watch | None:
        item = self._table.get(keys.watch(run_id, connection_id))
        return _read_watch(item) if item else None

    def of_run(self, run_id: str) -> Sequence[Watch]:
        return [_read_watch(item) for item in self._table.query_all(_all_of(keys.watchers(run_id)), strong=True)]

    def advance(self, watch: Watch, sent: int) -> bool:
        key = keys.watch(watch.run_id, watch.connection_id)
        try:
            self._table.update(Update(key, {"sent": items.number(sent)}, conditions.its_cursor_is(watch.sent)))
        except Refused:
            return False
        return True

    def finish(self, watch: Watch) -> None:
        key = keys.watch(watch.run_id, watch.connection_id)
        try:
            self._table.delete(key, conditions.its_cursor_is(watch.sent))
        except Refused:
            return
        self._table.delete(keys.socket_watch(watch.connection_id, watch.run_id))


def _all_of(partition: str) -> Expression:
    return Expression(f"#{keys.PK} = :partition", {":partition": items.text(partition)})


def _is_connection(item: Item) -> bool:
    return item[keys.SK]["S"] == keys.SOCKET_SK


def _connection_item(connection: Connection) -> Item:
    bound = {"run_id": items.text(connection.run_id)} if connection.run_id else {}
    return (
        items.key(keys.socket(connection.connection_id))
        | bound
        | {
            "connection_id": items.text(connection.connection_id),
            "account_id": items.text(connection.account_id),
            "key_id": items.text(connection.key_id),
            "scopes": {"L": [items.text(scope) for scope in sorted(connection.scopes)]},
            keys.TTL: _seconds(connection.expires_at),
        }
    )


def _read_connection(item: Item) -> Connection:
    return Connection(
        connection_id=item["connection_id"]["S"],
        account_id=items.account_of(item),
        key_id=item["key_id"]["S"],
        scopes=frozenset(Scope(scope["S"]) for scope in item["scopes"]["L"]),
        run_id=item["run_id"]["S"] if "run_id" in item else None,
        expires_at=_read_seconds(item[keys.TTL]),
    )


def _watch_item(watch: Watch) -> Item:
    return items.key(keys.watch(watch.run_id, watch.connection_id)) | {
        "connection_id": items.text(watch.connection_id),
        "run_id": items.text(watch.run_id),
        "account_id": items.text(watch.account_id),
        "sent": items.number(watch.sent),
        "in_full": {"BOOL": watch.in_full},
        keys.TTL: _seconds(watch.expires_at),
    }


def _read_watch(item: Item) -> Watch:
    return Watch(
        connection_id=item["connection_id"]["S"],
        run_id=item["run_id"]["S"],
        account_id=items.account_of(item),
        sent=int(item["sent"]["N"]),
        in_full=item["in_full"]["BOOL"],
        expires_at=_read_seconds(item[keys.TTL]),
    )


def _seconds(at: datetime) -> Attribute:
    return items.number(int(at.timestamp()))


def _read_seconds(attribute: Attribute) -> datetime:
    return datetime.fromtimestamp(int(attribute["N"]), UTC)
