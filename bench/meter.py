"""What requests to DynamoDB cost, counted at the client and computed from item sizes.

moto's ConsumedCapacity is a constant, so the units are worked out here by the published rules: a write unit is 1 KB of
the item, a read unit 4 KB of all that a request read, half of it if read eventually, a transaction twice. Source:
"Capacity unit consumption" in the DynamoDB developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any

WRITE_UNIT, READ_UNIT = 1024, 4096


@dataclass(frozen=True, slots=True)
class Request:
    """One request and its price in units."""

    operation: str
    read_units: float = 0.0
    write_units: float = 0.0


@dataclass
class Meter:
    """Counts what a client does while it is `running`."""

    requests: list[Request] = field(default_factory=list)
    _sent: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def running(self, client: Any) -> Iterator[Meter]:
        events = client.meta.events
        events.register("provide-client-params.dynamodb.*", self._note)
        events.register("after-call.dynamodb.*", self._count)
        try:
            yield self
        finally:
            events.unregister("provide-client-params.dynamodb.*", self._note)
            events.unregister("after-call.dynamodb.*", self._count)

    @property
    def read_units(self) -> float:
        return sum(request.read_units for request in self.requests)

    @property
    def write_units(self) -> float:
        return sum(request.write_units for request in self.requests)

    def _note(self, params: Mapping[str, Any], **_: Any) -> None:
        self._sent = params

    def _count(self, model: Any, parsed: Mapping[str, Any], **_: Any) -> None:
        self.requests.append(_price(model.name, self._sent, parsed))


def _price(operation: str, sent: Mapping[str, Any], answer: Mapping[str, Any]) -> Request:
    match operation:
        case "Query":
            return Request(operation, read_units=_read(answer["Items"], sent))
        case "GetItem":
            return Request(operation, read_units=_read([answer.get("Item", {})], sent))
        case "PutItem":
            return Request(operation, write_units=_written(sent["Item"]))
        case "UpdateItem":
            return Request(operation, write_units=_written(answer.get("Attributes", {})))
        case "TransactWriteItems":
            puts = [write["Put"]["Item"] for write in sent["TransactItems"] if "Put" in write]
            updates = len(sent["TransactItems"]) - len(puts)
            return Request(operation, write_units=2 * (sum(map(_written, puts)) + updates))
        case _:
            raise ValueError(f"no price is known for {operation}")


def _read(items: Sequence[Mapping[str, Any]], sent: Mapping[str, Any]) -> float:
    units = ceil(sum(map(size, items)) / READ_UNIT) or 1
    return units if sent.get("ConsistentRead") else units / 2


def _written(item: Mapping[str, Any]) -> int:
    return ceil(size(item) / WRITE_UNIT) or 1


def size(item: Mapping[str, Any]) -> int:
    """The bytes of an item: its names and its values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, held),) = value.items()
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _value_size(inner) for name, inner in held.items())
    if kind == "L":
        return 3 + sum(1 + _value_size(inner) for inner in held)
    return len(str(held).encode())
