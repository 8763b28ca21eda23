"""A WebSocket client as docs/delivery.md asks for one: a cursor for each run, and what is not above it is dropped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

SECONDS = 20
"""Real ones that a frame may take."""

Frame = dict[str, Any]


class Reader:
    """What becomes of the frames of any number of sockets. An event that is out of reach fails the test."""

    def __init__(self) -> None:
        self.cursors: dict[str, int] = {}
        self.events: list[Frame] = []
        self.dropped: list[Frame] = []
        self.ended: set[str] = set()
        self._parts: dict[tuple[str, int], dict[int, str]] = {}

    def take(self, text: str) -> Frame | None:
        """Take a frame in; it, or what it completes; None if parts are missing."""
        frame: Frame = json.loads(text)
        if frame["type"] == "part":
            whole = self._put_together(frame)
            return self.take(whole) if whole else None
        if frame["type"] == "events":
            for event in frame["events"]:
                self._event(frame["run_id"], event)
            if frame["done"]:
                self.ended.add(frame["run_id"])
        return frame

    def _event(self, run_id: str, event: Frame) -> None:
        last, seq = self.cursors.get(run_id, -1), event["seq"]
        if seq <= last:
            self.dropped.append(event)
            return
        assert seq == last + 1 or event["type"] == "snapshot", f"{seq} is out of reach behind {last}"
        self.cursors[run_id] = seq
        self.events.append(event)

    def _put_together(self, part: Frame) -> str | None:
        parts = self._parts.setdefault((part["run_id"], part["seq"]), {})
        parts[part["part"]] = part["text"]
        if len(parts) < part["parts"]:
            return None
        del self._parts[part["run_id"], part["seq"]]
        return "".join(parts[number] for number in sorted(parts))


class SocketClient:
    """An open socket. What it reads can go on where another one ended."""

    def __init__(self, connection: ClientConnection, reader: Reader) -> None:
        self._connection = connection
        self.reader = reader

    def ask(self, action: str, **fields: Any) -> None:
        self._connection.send(json.dumps({"action": action, **fields}))

    def hear(self) -> Frame:
        """The next frame, whole."""
        while (frame := self.reader.take(str(self._connection.recv(SECONDS)))) is None:
            pass
        return frame

    def hear_until(self, fits: Callable[[Frame], bool]) -> Frame:
        while not fits(frame := self.hear()):
            pass
        return frame

    def hear_to_the_end(self, run_id: str) -> None:
        while run_id not in self.reader.ended:
            self.hear()


@contextmanager
def a_socket(url: str, ticket: str, reader: Reader | None = None) -> Iterator[SocketClient]:
    """A socket of the gateway at that URL (http://…)."""
    with connect(f"{url.replace('http', 'ws', 1)}/v1/socket?ticket={ticket}", proxy=None) as connection:
        yield SocketClient(connection, reader or Reader())
