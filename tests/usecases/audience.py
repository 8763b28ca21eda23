"""Sockets that watch a run: the real stores, sockets that remember, and records that pass the stream's own filter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from moto.events.models import EventPattern

from chalicelib.adapters.dynamodb import items
from chalicelib.core.api_key import Scope
from chalicelib.core.change import record
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Trigger
from chalicelib.core.ticket import COUNTS_FOR
from chalicelib.core.watch import Connection
from chalicelib.handlers import http_shapes, socket_shapes
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.sockets import Gone
from chalicelib.ports.stream import Written
from chalicelib.ports.watch_store import WatchStore
from chalicelib.usecases.deliver import deliver
from chalicelib.usecases.keep_watching import keep_watching
from chalicelib.usecases.pump import Needs
from chalicelib.usecases.subscribe import subscribe
from infra import stream
from tests.builders import NOON, RUN_ID, a_held_run, a_move, a_stamp, accepted
from tests.socket_client import Reader
from tests.virtual_time import VirtualTime

PATTERNS = [EventPattern.load(pattern) for pattern in (stream.STATE_EVENTS, stream.WATCHED_DELTAS)]


@dataclass
class RecordingSockets:
    """`Sockets` with a reader behind each."""

    readers: dict[str, Reader] = field(default_factory=lambda: defaultdict(Reader))
    gone: set[str] = field(default_factory=set)
    stuck: set[str] = field(default_factory=set)
    closed: list[str] = field(default_factory=list)
    before_post: Callable[[str], None] = lambda connection_id: None

    def post(self, connection_id: str, frame: str) -> None:
        self.before_post(connection_id)
        if connection_id in self.gone:
            raise Gone(connection_id)
        if connection_id in self.stuck:
            raise Unavailable(connection_id)
        self.readers[connection_id].take(frame)

    def close(self, connection_id: str) -> None:
        self.closed.append(connection_id)


class Audience:
    """A held run that streams, and its watchers."""

    def __init__(self, runs: RunStore, watches: WatchStore, replay_cap: int = 1000) -> None:
        self.time = VirtualTime(NOON)
        self.runs, self.watches, self.sockets = runs, watches, RecordingSockets()
        self.needs = Needs(
            watches=watches,
            sockets=self.sockets,
            runs=runs,
            clock=self.time,
            frames=socket_shapes.frames,
            gone=socket_shapes.gone,
            replay_cap=replay_cap,
        )
        self.run = a_held_run()
        self.records: list[Written] = []
        self._seq = 0
        runs.create(self.run, accepted(), None)

    def know(self) -> None:
        """The worker reads the run, and so learns whether somebody watches."""
        self.run = self.tail()[0]

    def tail(self) -> tuple[Run, Event]:
        found = self.runs.tail(RUN_ID)
        assert found is not None
        return found

    def tell(self, count: int = 1, type: EventType = EventType.TEXT_DELTA, **data: Any) -> None:
        """The worker writes; what of it the stream tells of comes into `records`."""
        for _ in range(count):
            stamp = a_stamp(1, at=self.time.now())
            event = record(type, data or {"text": "x"}, tail=self._seq, stamp=stamp)
            self.runs.append(self.run, event)
            self._streamed(event)

    def end(self) -> None:
        change = a_move(self.tail()[0], Trigger.FAIL, tail=self._seq)
        self.runs.commit(change)
        self._streamed(change.event)

    def _streamed(self, event: Event) -> None:
        self._seq = event.seq
        item = items.event_item(self.run, event, items.data_text(event.data))
        told: Any = {"eventName": "INSERT", "dynamodb": {"Keys": item, "NewImage": item}}
        if any(pattern.matches_event(told) for pattern in PATTERNS):
            self.records.append(Written(RUN_ID, event.seq))

    def connect(self, name: str = "c1", account_id: str = "acme", run_id: str | None = None) -> Connection:
        scopes = frozenset({Scope.READ, Scope.RUN})
        made = Connection(name, account_id, "key_1", scopes, run_id, self.time.now() + COUNTS_FOR)
        self.watches.connect(made)
        return made

    def subscribe(self, connection: Connection, since: int = -1, *, in_full: bool = False) -> None:
        found = self.watches.connection(connection.connection_id)
        assert found is not None
        reply = socket_shapes.subscribed(RUN_ID, since)
        subscribe(*found, RUN_ID, since, in_full=in_full, reply=reply, needs=self.needs, until=self._until(25))

    def watch(self, name: str = "c1", since: int = -1) -> Reader:
        """Connect and subscribe; what the socket reads."""
        self.subscribe(self.connect(name), since)
        return self.sockets.readers[name]

    def deliver(self, records: list[Written] | None = None) -> None:
        """Deliver these records, or all that have come."""
        given, self.records = (records, self.records) if records is not None else (self.records, [])
        deliver(given, needs=self.needs, until=self._until(55))

    def ping(self, name: str = "c1") -> None:
        found = self.watches.connection(name)
        assert found is not None
        keep_watching(*found, needs=self.needs, until=self._until(25))

    def log(self) -> list[dict[str, Any]]:
        return [http_shapes.event(event) for event in self.runs.log(RUN_ID)[1]]

    def _until(self, seconds: int) -> Any:
        return self.time.now() + timedelta(seconds=seconds)
