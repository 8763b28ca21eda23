"""One HTTP request whose answer is read as it comes, which ends in time and can be broken off from any thread.

Not a pooled connection: to break off a call that is silent, before its answer has begun too, its socket must be known
and its own. The price is one handshake for each model call.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPException

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse
from urllib3.util import Url

CONNECT_SECONDS = 5.0

BROKEN = (HTTPError, HTTPException, OSError)
"""What an exchange raises when the line does not hold."""


class Exchange:
    """`seconds` bounds the whole of it, however often a few bytes come."""

    def __init__(self, url: Url, seconds: float) -> None:
        self._url = url
        self._connection = _connection(url, min(CONNECT_SECONDS, seconds))
        self._response: HTTPResponse | None = None
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True
        self.closed = False
        self.expired = False

    def post(self, body: bytes, headers: Mapping[str, str]) -> HTTPResponse:
        """Send the request; the response's status and headers are there, its body is still to come."""
        self._timer.start()
        self._connection.connect()
        self._hold_socket()
        # From here on the timer ends it, and nothing else: a read's own timeout begins anew with every byte.
        self._connection.timeout = None
        # A server may answer, say 413, and hang up before it has read the whole body: its answer counts.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._connection.request("POST", self._url.request_uri, body, headers, preload_content=False)
        self._response = self._connection.getresponse()
        return self._response

    def pieces(self) -> Iterator[bytes]:
        """The body, each piece as soon as it is there."""
        while self._response is not None and (piece := self._response.read1()):
            yield piece

    def close(self) -> None:
        """End it now: a read that waits comes back at once, and the server sees the connection close."""
        with self._lock:
            self.closed = True
            self._shut()

    def release(self) -> None:
        """Give back what it holds; for the thread that reads."""
        self._timer.cancel()
        with self._lock:
            self._socket = None
        if self._response is not None:
            self._response.close()
        self._connection.close()

    def _expire(self) -> None:
        with self._lock:
            self.expired = True
            self._shut()

    def _hold_socket(self) -> None:
        with self._lock:
            self._socket = self._connection.sock
            if self.closed or self.expired:
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            # The plain socket's method: the one of a TLS socket takes away the state that the reading thread is using.
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _connection(url: Url, timeout: float) -> HTTPConnection:
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    return kind(str(url.host), url.port, timeout=timeout)
