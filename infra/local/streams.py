"""Stream mappings as Lambda keeps them: filtered, in batches, in order, tried again. moto passes on every record."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from moto.events.models import EventPattern

from infra.local.functions import Function, Outcome

log = logging.getLogger("infra.local")

Record = dict[str, Any]


class Client(Protocol):
    """boto3's `lambda`, as far as it is asked."""

    def list_event_source_mappings(self) -> Any: ...


@dataclass(frozen=True)
class Consumer:
    """How a function reads its stream. Without patterns it gets everything."""

    patterns: tuple[EventPattern, ...]
    batch: int
    retries: int

    def wants(self, record: Record) -> bool:
        return not self.patterns or any(pattern.matches_event(record) for pattern in self.patterns)  # type: ignore[arg-type]


def consumers(client: Client) -> dict[str, Consumer]:
    """The mappings of the stack, by the ARNs of their functions."""
    listed = client.list_event_source_mappings()["EventSourceMappings"]
    return {each["FunctionArn"]: _consumer(each) for each in listed}


def _consumer(described: Mapping[str, Any]) -> Consumer:
    filters = described.get("FilterCriteria", {}).get("Filters", [])
    return Consumer(
        patterns=tuple(EventPattern.load(each["Pattern"]) for each in filters),
        batch=described["BatchSize"],
        retries=described.get("MaximumRetryAttempts", 0),
    )


class Streams:
    """A queue and a thread for every function that reads a stream. A batch that fails is not halved, as AWS does."""

    def __init__(self, consumers: Mapping[str, Consumer], invoke: Callable[[Function, Any], Outcome]) -> None:
        self._consumers = consumers
        self._invoke = invoke
        self._lock = threading.Lock()
        self._boxes: dict[str, SimpleQueue[Record]] = {}
        self._over = threading.Event()

    def send(self, function: Function, event: Any) -> None:
        """Hand records over; returns at once, also inside a write that has the store's lock."""
        consumer = self._consumers[function.arn]
        wanted = [record for record in event["Records"] if consumer.wants(record)]
        with self._lock:
            if wanted and function.arn not in self._boxes:
                self._boxes[function.arn] = SimpleQueue()
                name = f"stream of {function.door}"
                threading.Thread(target=self._read, args=(function, consumer), name=name, daemon=True).start()
            for record in wanted:
                self._boxes[function.arn].put(record)

    def close(self) -> None:
        """Read on no further. As at every restart, what was not read is told of by nothing but the tick."""
        self._over.set()

    def _read(self, function: Function, consumer: Consumer) -> None:
        box = self._boxes[function.arn]
        while not self._over.is_set():
            event = {"Records": _batch(box, consumer.batch)}
            tries = (self._invoke(function, event) for _ in range(1 + consumer.retries))
            if all(outcome.failed for outcome in tries) and not self._over.is_set():
                log.error("%s gives up on %d records", function.door, len(event["Records"]))


def _batch(box: SimpleQueue[Record], most: int) -> list[Record]:
    """What lies there, once there is something."""
    records = [box.get()]
    try:
        while len(records) < most:
            records.append(box.get_nowait())
    except Empty:
        pass
    return records
