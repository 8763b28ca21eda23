"""moto's DynamoDB made true: one request at a time, each all or nothing, told of once it stands.

moto's conditional writes race, its transactions copy the whole table, each query sorts the whole table, and its stream
records go out before a transaction is known to succeed. Both ways in pass `DynamoHandler.call_action`: there the lock
is.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import moto.dynamodb.models as moto_models
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import StreamShard, Table
from moto.dynamodb.responses import DynamoHandler

from infra.local import serializing
from infra.local.overrides import override

Attributes = dict[str, Any]


@dataclass(frozen=True)
class Write:
    """What stands in a table after a request: the item, or nothing, under that key."""

    table: str
    key: Attributes
    item: Attributes | None


@dataclass
class Request:
    """What one request has touched so far: enough to undo it."""

    before: dict[tuple[str, Any, Any], tuple[Table, Item | None]] = field(default_factory=dict)
    records: list[Callable[[], None]] = field(default_factory=list)

    def remember(self, table: Table, hash_key: DynamoType, range_key: DynamoType | None) -> None:
        place = (table.name, hash_key, range_key)
        if place not in self.before:
            self.before[place] = (table, copy.deepcopy(table.get_item(hash_key, range_key)))

    def undo(self) -> None:
        for (_, hash_key, range_key), (table, item) in self.before.items():
            items: dict[Any, Any] = table.items
            partition, place = (items, hash_key) if range_key is None else (items[hash_key], range_key)
            partition.pop(place, None)
            if item is not None:
                partition[place] = item

    def writes(self) -> list[Write]:
        return [_write(table, place[1], place[2]) for place, (table, _) in self.before.items()]


class Serial:
    """One request at a time. `committed` hears what each changed before its answer; if that raises, nothing changed."""

    def __init__(self, committed: Callable[[Sequence[Write]], None]) -> None:
        self._committed = committed
        self._lock = threading.Lock()
        self._request: Request | None = None
        self._queried: Candidates | None = None

    @contextmanager
    def request(self) -> Iterator[Request]:
        with self._lock:
            self._request = request = Request()
            try:
                yield request
                self._commit(request)
            except BaseException:
                request.undo()
                raise
            finally:
                self._request = None

    def _commit(self, request: Request) -> None:
        if writes := request.writes():
            self._committed(writes)
        for tell in request.records:
            tell()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """moto obeys for as long as the block lasts."""
        with ExitStack() as stack:
            for target, name, make in (
                (DynamoHandler, "call_action", self._call_action),
                (Table, "put_item", self._put_item),
                (Table, "delete_item", self._delete_item),
                (DynamoDBBackend, "update_item", self._update_item),
                (StreamShard, "add", self._add),
                (Table, "query", self._query),
                (Table, "all_items", self._all_items),
            ):
                stack.enter_context(override(target, name, make(vars(target)[name])))
            stack.enter_context(serializing.in_force())
            stack.enter_context(override(moto_models, "copy", SimpleNamespace(deepcopy=_copy_all_but_tables)))
            yield

    def _call_action(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call_action(handler: DynamoHandler) -> Any:
            with self.request() as request:
                status, headers, body = original(handler)
                if status >= 400:
                    request.undo()
                    request.before.clear()
                    request.records.clear()
                return status, headers, body

        return call_action

    def _put_item(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def put_item(table: Table, item_attrs: Attributes, *args: Any, **kwargs: Any) -> Any:
            if self._request and set(table.table_key_attrs) <= set(item_attrs):
                self._request.remember(table, *_place(table, item_attrs))
            return original(table, item_attrs, *args, **kwargs)

        return put_item

    def _delete_item(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def delete_item(table: Table, hash_key: DynamoType, range_key: DynamoType | None) -> Any:
            if self._request:
                self._request.remember(table, hash_key, range_key)
            return original(table, hash_key, range_key)

        return delete_item

    def _update_item(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def update_item(backend: DynamoDBBackend, table_name: str, key: Attributes, *args: Any, **kwargs: Any) -> Any:
            table = backend.get_table(table_name)
            if self._request and set(table.table_key_attrs) <= set(key):
                self._request.remember(table, *_place(table, key))
            return original(backend, table_name, key, *args, **kwargs)

        return update_item

    def _query(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def query(table: Table, hash_key: DynamoType | None, *args: Any, **kwargs: Any) -> Any:
            of_an_index = len(args) > INDEX_NAME and args[INDEX_NAME] is not None
            self._queried = _unsorted if of_an_index else partial(_partition, hash_key=hash_key)
            try:
                return original(table, hash_key, *args, **kwargs)
            finally:
                self._queried = None

        return query

    def _all_items(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def all_items(table: Table) -> list[Item]:
            return self._queried(table) if self._queried else list(original(table))

        return all_items

    def _add(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def add(shard: StreamShard, old: Item | None, new: Item | None) -> None:
            if self._request:
                self._request.records.append(partial(original, shard, old, new))
            else:
                original(shard, old, new)

        return add


INDEX_NAME = 6
"""Where the name of an index stands among what moto hands to `Table.query` behind the hash key."""

Candidates = Callable[[Table], list[Item]]
"""The items that a query chooses from; it sorts what it finds itself."""


def _partition(table: Table, hash_key: DynamoType | None) -> list[Item]:
    items: dict[Any, Any] = table.items
    return list(items.get(hash_key, {}).values())


def _unsorted(table: Table) -> list[Item]:
    items: dict[Any, Any] = table.items
    return [item for partition in items.values() for item in partition.values()]


def load(table: Table, items: Sequence[Attributes]) -> None:
    """Put items into a table that nobody uses yet; of these nothing is told."""
    shard, table.stream_shard = table.stream_shard, None
    for item in items:
        table.put_item(item)
    table.stream_shard = shard


def delete_expired(serial: Serial, table: Table, attribute: str, now: float) -> int:
    """Delete the items whose time to live is over, as DynamoDB does by itself and moto does not."""
    with serial.request():
        expired = [item for item in table.all_items() if _expired(item, attribute, now)]
        for item in expired:
            table.delete_item(item.hash_key, item.range_key)
    return len(expired)


def _expired(item: Item, attribute: str, now: float) -> bool:
    value = item.attrs.get(attribute)
    return value is not None and value.type == "N" and float(value.value) < now


def _copy_all_but_tables(thing: Any) -> Any:
    # A transaction copies its tables, and puts the copies back if it fails. Without a copy, `undo` is what restores.
    return thing if isinstance(thing, Table) else copy.deepcopy(thing)


def _place(table: Table, attributes: Attributes) -> tuple[DynamoType, DynamoType | None]:
    range_key = table.range_key_attr
    return DynamoType(attributes[table.hash_key_attr]), DynamoType(attributes[range_key]) if range_key else None


def _write(table: Table, hash_key: DynamoType, range_key: DynamoType | None) -> Write:
    key = {table.hash_key_attr: hash_key.to_json()}
    if table.range_key_attr and range_key is not None:
        key[table.range_key_attr] = range_key.to_json()
    item = table.get_item(hash_key, range_key)
    return Write(table.name, key, None if item is None else item.to_json()["Attributes"])
