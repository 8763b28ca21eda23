"""Everybody who may pump for a socket, at once, in hundreds of orders that chance gives."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Unavailable
from chalicelib.core.watch import Connection, Watch
from chalicelib.handlers import socket_shapes
from chalicelib.ports.stream import Written
from chalicelib.usecases import pump
from chalicelib.usecases.deliver import deliver
from chalicelib.usecases.keep_watching import keep_watching
from chalicelib.usecases.pump import Needs
from chalicelib.usecases.subscribe import subscribe
from tests.builders import NOON, RUN_ID
from tests.edge.memory_log import MemoryLog
from tests.socket_client import Reader
from tests.usecases.audience import RecordingSockets
from tests.usecases.memory_watches import MemoryWatches
from tests.usecases.turns import Turns
from tests.virtual_time import VirtualTime

ORDERS = 300
UNTIL = NOON + timedelta(minutes=5)
SOCKET = Connection("c1", "acme", "key_1", frozenset({Scope.READ}), None, UNTIL)


class Failing(MemoryWatches):
    """Some moves of a cursor come to nothing, as when a Lambda dies after its post."""

    def __init__(self, every: int) -> None:
        super().__init__()
        self._every, self._moves = every, 0

    def advance(self, watch: Watch, sent: int) -> bool:
        self._moves += 1
        if self._moves % self._every == 0:
            raise Unavailable("the table does not answer")
        return super().advance(watch, sent)


class Town:
    """A log that is written, and all who look at it."""

    def __init__(self, seed: int) -> None:
        self.turns = Turns(seed)
        self.log = MemoryLog(4)
        self.sockets = RecordingSockets()
        self.reader: Reader = self.sockets.readers["c1"]
        self.records: list[Written] = []
        self.written = False
        runs: Any = self.turns.stepping(self.log)
        self.needs = Needs(
            watches=self.turns.stepping(Failing(every=5)),
            sockets=self.turns.stepping(self.sockets),
            runs=runs,
            clock=VirtualTime(NOON),
            frames=socket_shapes.frames,
            gone=socket_shapes.gone,
            replay_cap=1000,
        )
        self.needs.watches.connect(SOCKET)

    def write(self) -> None:
        for _ in range(12):
            self.turns.step()
            self._told(self.log.grow)
        self.turns.step()
        self._told(self.log.end)
        self.written = True

    def _told(self, write: Any) -> None:
        write()
        self.records.append(Written(RUN_ID, self.log.tail(RUN_ID)[1].seq))

    def watch(self) -> None:
        self._subscribe()

    def watch_again(self) -> None:
        """As a client does that misses something, or believes so."""
        for _ in range(2):
            self.turns.step()
            self._subscribe()

    def ping(self) -> None:
        for _ in range(2):
            self.turns.step()
            try:
                keep_watching(SOCKET, frozenset({RUN_ID}), needs=self.needs, until=UNTIL)
            except Unavailable:
                continue

    def deliver(self) -> None:
        """One batch at a time, again if it fails."""
        while not self.written or self.records:
            self.turns.step()
            batch, self.records = self.records, []
            try:
                deliver(batch, needs=self.needs, until=UNTIL)
            except Unavailable:
                self.records = batch + self.records

    def deliver_again(self) -> None:
        """An older invocation that went on though its batch was given to another one."""
        for seq in (5, 8, 11):
            self.turns.step()
            try:
                deliver([Written(RUN_ID, seq)], needs=self.needs, until=UNTIL)
            except Unavailable:
                continue

    def _subscribe(self) -> None:
        while True:
            since = self.reader.cursors.get(RUN_ID, -1)
            try:
                subscribe(
                    *(SOCKET, frozenset({RUN_ID}), RUN_ID, since),
                    in_full=False,
                    reply=socket_shapes.subscribed(RUN_ID, since),
                    needs=self.needs,
                    until=UNTIL,
                )
                return
            except Unavailable:
                continue


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "PAGE", 3)


def test_in_whatever_order_they_come_the_reader_has_each_event_once_and_none_was_out_of_reach() -> None:
    for seed in range(ORDERS):
        town = Town(seed)
        town.turns.run(town.write, town.watch, town.deliver)

        assert [event["seq"] for event in town.reader.events] == [*range(17)], f"seed {seed}"
        assert town.reader.ended == {RUN_ID}, f"seed {seed}"


def test_pings_second_subscriptions_and_twice_delivered_batches_change_nothing() -> None:
    dropped = 0
    for seed in range(ORDERS):
        town = Town(seed)
        town.turns.run(town.write, town.watch, town.watch_again, town.ping, town.deliver, town.deliver_again)

        assert [event["seq"] for event in town.reader.events] == [*range(17)], f"seed {seed}"
        assert town.reader.ended == {RUN_ID}, f"seed {seed}"
        dropped += len(town.reader.dropped)
    assert dropped, "nothing ever crossed: these orders prove nothing"
