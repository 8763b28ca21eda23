"""A small HTTP server on loopback that can do what real networks do: refuse, reset, cut off, fall silent, come back."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPStatus
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, unquote, urlsplit

Json = dict[str, Any]


class Cut(StrEnum):
    """How an answer is spoilt on its way."""

    RESET = "reset before a word"
    HALF_HEAD = "closed within the head"
    HALF_BODY = "closed within a body of announced length"
    UNMEASURED = "closed within a body of unknown length"
    SILENT = "never answered"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Json


@dataclass(frozen=True)
class Answer:
    """A `str` as body is HTML, as a proxy in front of the server would send it."""

    status: int = 200
    body: Json | str = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: Cut | None = None


class Door:
    """Listens on one port for all its life; `shut` and `open` are a server that goes away and comes back."""

    def __init__(self, handle: Callable[[Request], Answer]) -> None:
        self._handle = handle
        self._connections: set[socket.socket] = set()
        self.port = 0
        self.is_open = False
        self.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        self.is_open = True
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def shut(self) -> None:
        """Refuse whoever comes, and drop whoever is there."""
        if self.is_open:
            self.is_open = False
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self._connections.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as stream, contextlib.suppress(OSError):
                while (request := _read(stream)) is not None:
                    answer = self._handle(request)
                    _send(connection, answer)
                    if answer.cut:
                        return
        finally:
            self._connections.discard(connection)


def _read(stream: BinaryIO) -> Request | None:
    line = stream.readline().decode()
    if not line:
        return None
    method, target, _ = line.split(" ")
    headers = {}
    while pair := stream.readline().decode().strip():
        name, _, value = pair.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = stream.read(int(headers.get("content-length", 0)))
    url = urlsplit(target)
    return Request(method, unquote(url.path), dict(parse_qsl(url.query)), headers, json.loads(body) if body else {})


def _send(connection: socket.socket, answer: Answer) -> None:
    head, body = _head(answer), _body(answer)
    match answer.cut:
        case None:
            connection.sendall(head + body)
        case Cut.RESET:
            # No lingering: closing sends a reset.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        case Cut.HALF_HEAD:
            connection.sendall(head[: len(head) // 2])
        case Cut.HALF_BODY | Cut.UNMEASURED:
            connection.sendall(head + body[: len(body) // 2])
        case Cut.SILENT:
            connection.recv(1)


def _head(answer: Answer) -> bytes:
    kind = "text/html" if isinstance(answer.body, str) else "application/json"
    headers = {"Content-Type": kind, **answer.headers}
    if answer.cut is Cut.UNMEASURED:
        headers["Connection"] = "close"
    else:
        headers["Content-Length"] = str(len(_body(answer)))
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _body(answer: Answer) -> bytes:
    return (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
