"""A web server on loopback that answers as a test tells it to, and a network on which it has a public address."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from chalicelib.adapters.net import dialling
from chalicelib.adapters.net.pinned_web import PinnedWeb

PUBLIC = "93.184.216.34"


@dataclass(frozen=True)
class Said:
    """An answer. `body` may be endless; one without a `Content-Length` lasts until the connection closes."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain"})
    body: Callable[[], Iterator[bytes]] = lambda: iter((b"hello",))


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


Answers = Callable[[Asked], Said]


@dataclass
class Website:
    """What was asked; `dialled` counts connections, also those on which nothing was asked."""

    port: int
    asked: list[Asked] = field(default_factory=list)
    dialled: int = 0


@contextmanager
def serving(answers: Answers = lambda asked: Said(), tls: ssl.SSLContext | None = None) -> Iterator[Website]:
    """The server, on a free port of 127.0.0.1."""
    handler = type("Handler", (_Handler,), {"answers": staticmethod(answers)})
    with _Server(("127.0.0.1", 0), handler) as server:
        server.website = handler.website = Website(server.server_port)  # type: ignore[attr-defined]
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.website
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    website: Website

    def verify_request(self, request: Any, client_address: Any) -> bool:
        self.website.dialled += 1
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or does not trust the certificate, is no news; anything else is."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    answers: ClassVar[Answers]
    website: ClassVar[Website]

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays calm."""

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, self.path, {name.lower(): of for name, of in self.headers.items()}, content)
        self.website.asked.append(asked)
        said = type(self).answers(asked)
        self.send_response(said.status)
        for name, value in said.headers.items():
            self.send_header(name, value.encode().decode("latin-1"))
        self.end_headers()
        if self.command != "HEAD":
            for piece in said.body():
                self.wfile.write(piece)


@dataclass
class Network:
    """Names with their answers, each asked for in turn, the last for ever; public addresses lead to this machine."""

    names: Mapping[str, Sequence[Sequence[str]]]
    resolved: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)
    deaf: set[str] = field(default_factory=set)

    def web(self) -> PinnedWeb:
        return PinnedWeb(resolve=self._resolve, dial=self._dial)

    def _resolve(self, host: str, port: int, seconds: float) -> Sequence[str]:
        answers = self.names[host]
        self.resolved.append(host)
        return answers[min(self.resolved.count(host), len(answers)) - 1]

    def _dial(self, address: str, port: int, seconds: float) -> socket.socket:
        self.dialled.append(address)
        if address in self.deaf:
            raise ConnectionRefusedError(address)
        return dialling.dial("127.0.0.1" if address == PUBLIC else address, port, seconds)
