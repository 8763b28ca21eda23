"""A `WatchStore` in memory, for tests that go through thousands of calls. Its answers are those of the table's
(tests/adapters/dynamodb/test_watch_store.py); one caller at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chalicelib.core.watch import Connection, Watch


class MemoryWatches:
    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}
        self._watches: dict[tuple[str, str], Watch] = {}

    def connect(self, connection: Connection) -> None:
        self._connections[connection.connection_id] = connection

    def connection(self, connection_id: str) -> tuple[Connection, frozenset[str]] | None:
        run_ids = frozenset(run_id for name, run_id in self._watches if name == connection_id)
        found = self._connections.get(connection_id)
        return (found, run_ids) if found else None

    def disconnect(self, connection_id: str) -> None:
        self._connections.pop(connection_id, None)
        self._watches = {place: watch for place, watch in self._watches.items() if place[0] != connection_id}

    def subscribe(self, watch: Watch) -> None:
        self._watches[watch.connection_id, watch.run_id] = watch

    def unsubscribe(self, connection_id: str, run_id: str) -> None:
        self._watches.pop((connection_id, run_id), None)

    def find(self, connection_id: str, run_id: str) -> Watch | None:
        return self._watches.get((connection_id, run_id))

    def of_run(self, run_id: str) -> Sequence[Watch]:
        return [watch for watch in self._watches.values() if watch.run_id == run_id]

    def advance(self, watch: Watch, sent: int) -> bool:
        found = self.find(watch.connection_id, watch.run_id)
        if found is None or found.sent != watch.sent:
            return False
        self.subscribe(replace(found, sent=sent))
        return True

    def finish(self, watch: Watch) -> None:
        found = self.find(watch.connection_id, watch.run_id)
        if found is not None and found.sent == watch.sent:
            self.unsubscribe(watch.connection_id, watch.run_id)
