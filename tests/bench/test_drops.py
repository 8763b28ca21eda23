"""The proxy that breaks lines, in front of a server that keeps them open."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.drops import dropping

BODY = b"x" * 50


class KeptAlive(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), KeptAlive) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def asked(port: int) -> bool:
    """Ask, and leave as soon as the answer is there; whether it came whole."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(b"GET /v1/runs/run_1/events HTTP/1.1\r\nHost: pawl\r\n\r\n")
        got = b""
        try:
            while not got.endswith(BODY) and (piece := line.recv(4096)):
                got += piece
        except ConnectionResetError:
            return False
    return got.endswith(BODY)


def test_a_line_that_its_client_closes_is_not_counted_among_the_broken(upstream: int) -> None:
    sizes = iter([10_000, *[20] * 9])

    with dropping(upstream, 1, lambda: next(sizes)) as (port, proxy):
        whole = [asked(port)]
        while whole[-1] and len(whole) < 9:
            whole.append(asked(port))

    assert whole[0]
    assert (whole.count(False), proxy.made, proxy.all_made.is_set()) == (1, 1, True)
