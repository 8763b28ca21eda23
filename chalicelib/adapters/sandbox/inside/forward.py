"""The way out of a sandbox that has one: a port on its own loopback, from which all goes to the proxy's socket."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

STACK = 128 << 10
"""Bytes: the code's memory is counted by address space, and a thread takes eight megabytes otherwise."""


def open_way(path: str) -> None:
    """Forward in the background, and tell the libraries by the environment. Raises OSError."""
    listener = socket.create_server(("127.0.0.1", 0))
    _begin(_accept, listener, path)
    proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        os.environ[name] = proxy


def _begin(work: Callable[..., None], *args: object) -> None:
    threading.stack_size(STACK)
    threading.Thread(target=work, args=args, daemon=True).start()
    threading.stack_size(0)


def _accept(listener: socket.socket, path: str) -> None:
    while True:
        client = listener.accept()[0]
        proxy = socket.socket(socket.AF_UNIX)
        try:
            proxy.connect(path)
        except OSError:  # the proxy is gone, and with it the run
            client.close()
            continue
        _begin(_carry, client, proxy)
        _begin(_carry, proxy, client)


def _carry(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # one side is gone: the other one is told
        while piece := source.recv(65_536):
            sink.sendall(piece)
    for each in (source, sink):
        with suppress(OSError):  # shut already, by the thread of the other direction
            each.shutdown(socket.SHUT_RDWR)
