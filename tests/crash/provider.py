"""A model provider for runs that are shot at: three turns, text in a hundred pieces, over a real socket.

Which turn is next it sees from the conversation, as a real one does; it keeps nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = [f"word{n} " for n in range(25)]
TEXT = "".join(WORDS)
PACE = 0.04
CALLS = [
    {"index": index, "id": f"call_{index}", "function": {"name": "current_time", "arguments": "{}"}} for index in (0, 1)
]
TURNS = 3


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = sum(message["role"] == "assistant" for message in asked["messages"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self._stream(last=said == TURNS - 1)
        except (BrokenPipeError, ConnectionResetError):
            return

    def _stream(self, *, last: bool) -> None:
        never = threading.Event()
        for word in WORDS:
            self._say({"content": word})
            never.wait(PACE)
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
def providing() -> Iterator[str]:
    """The provider's base URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()
