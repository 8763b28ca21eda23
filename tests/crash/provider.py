"""A model provider for runs that are shot at: three turns, text in a hundred pieces, over a real socket.

Which turn is next it sees from the conversation, as a real one does. All that it keeps is which calls were made, and
which of them were hung up on.
"""

from __future__ import annotations

import json
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = [f"word{n} " for n in range(25)]
TEXT = "".join(WORDS)
PACE = 0.04
CALLS = [
    {"index": index, "id": f"call_{index}", "function": {"name": "current_time", "arguments": "{}"}} for index in (0, 1)
]
TURNS = 3


Pace = Callable[[str, int], float]
"""Seconds before each word of a call, by what the user said and how many calls were made for it before."""


@dataclass
class Call:
    """One that was made: what the user said, and which turn is asked for, from 0."""

    said: str
    turn: int
    hung_up: threading.Event = field(default_factory=threading.Event)


class Provider(ThreadingHTTPServer):
    """Serves at `url`."""

    daemon_threads = True

    def __init__(self, pace: Pace) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.pace = pace
        self.calls: list[Call] = []
        self._turn = threading.Lock()

    def of(self, said: str) -> list[Call]:
        """The calls for a run with that task, as they came."""
        return [call for call in self.calls if call.said == said]

    def begin(self, messages: list[dict[str, Any]]) -> tuple[Call, float]:
        """A call, and its pace."""
        said = next(message["content"] for message in messages if message["role"] == "user")
        call = Call(said, sum(message["role"] == "assistant" for message in messages))
        with self._turn:
            pace = self.pace(said, len(self.of(said)))
            self.calls.append(call)
        return call, pace


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        call, pace = self.server.begin(asked["messages"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self._stream(pace, last=call.turn == TURNS - 1)
        except (BrokenPipeError, ConnectionResetError):
            call.hung_up.set()

    def _stream(self, pace: float, *, last: bool) -> None:
        for word in WORDS:
            self._say({"content": word})
            if select.select([self.connection], [], [], pace)[0]:
                raise BrokenPipeError("nobody listens any more")
        if not last:
            self._say({"tool_calls": CALLS})
        self._say({}, finish_reason="stop" if last else "tool_calls")
        self._data("[DONE]")

    def _say(self, delta: dict[str, Any], finish_reason: str | None = None) -> None:
        self._data(json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}))

    def _data(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Quietly."""


@contextmanager
def a_provider(pace: Pace) -> Iterator[Provider]:
    """A provider, for as long as the block lasts."""
    with Provider(pace) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def providing() -> Iterator[str]:
    """The base URL of a provider that always has the same pace."""
    with a_provider(lambda said, made: PACE) as provider:
        yield provider.url
