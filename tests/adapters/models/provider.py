"""A provider on loopback: a real HTTP server that speaks, and misspeaks, OpenAI's streamed chat completions."""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

STREAM = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}


class Ending(Enum):
    """What the provider does after the last piece."""

    WHOLE = auto()
    CUT = auto()
    SILENT = auto()
    DRIPPING = auto()


@dataclass(frozen=True)
class Answer:
    """What the provider sends, piece by piece, each in a chunk of its own. A status of None: not even a status line."""

    pieces: Sequence[bytes] = ()
    status: int | None = 200
    headers: Mapping[str, str] = field(default_factory=lambda: STREAM)
    ending: Ending = Ending.WHOLE


@dataclass(frozen=True)
class Asked:
    """A request as it came over the wire."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Provider:
    """Gives `answer` to every request. `silent` and `hung_up` tell when it waits, and when the client has gone."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.silent = threading.Event()
        self.hung_up = threading.Event()
        self.url = ""


Serve = Callable[[Answer], Provider]


@contextmanager
def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Provider]:
    """The provider, on a free port of 127.0.0.1."""
    provider = Provider(answer)
    handler = type("Handler", (_Handler,), {"provider": provider})
    with _Server(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        provider.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or does not trust the certificate, is no news; anything else is."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: ClassVar[Provider]

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.provider.asked.append(Asked(self.path, dict(self.headers), json.loads(content)))
        answer = self.provider.answer
        self.close_connection = True
        if answer.status is not None:
            self._say(answer, answer.status)
        match answer.ending:
            case Ending.WHOLE:
                self.wfile.write(b"0\r\n\r\n")
            case Ending.SILENT:
                self._wait_until_the_client_hangs_up(None)
            case Ending.DRIPPING:
                self._wait_until_the_client_hangs_up(0.01)

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays calm."""

    def _say(self, answer: Answer, status: int) -> None:
        self.send_response(status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in answer.pieces:
            self._chunk(piece)

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def _wait_until_the_client_hangs_up(self, drip_seconds: float | None) -> None:
        self.provider.silent.set()
        self.connection.settimeout(drip_seconds)
        try:
            while True:
                try:
                    self.connection.recv(1)
                    break
                except TimeoutError:
                    self._chunk(b": still here\n\n")
        except OSError:
            # A client that is gone while something is on its way to it looks like this.
            pass
        self.provider.hung_up.set()


def event(chunk: Mapping[str, Any]) -> bytes:
    """A chunk of a completion as it goes over the wire."""
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def delta(finish: str | None = None, **said: object) -> bytes:
    """A chunk in the shape that OpenAI documents."""
    return event(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1767225600,
            "model": "gpt-test",
            "choices": [{"index": 0, "delta": said, "logprobs": None, "finish_reason": finish}],
            "usage": None,
        }
    )


def call_fragment(index: int, arguments: str, **head: object) -> dict[str, Any]:
    """A piece of a tool call; the first one carries id and name in `head`."""
    name = {"name": head.pop("name")} if "name" in head else {}
    return {"index": index, **head, "function": {**name, "arguments": arguments}}


def usage(read: int, wrote: int) -> bytes:
    """The chunk that comes last, without choices, when usage was asked for."""
    figures = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
    return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": figures})


DONE = b"data: [DONE]\n\n"


def stream(*pieces: bytes, ending: Ending = Ending.WHOLE) -> Answer:
    """A stream of these pieces."""
    return Answer(pieces, ending=ending)


HELLO = delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo")
STOP = delta("stop")
