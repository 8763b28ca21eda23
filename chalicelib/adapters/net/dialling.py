"""Names to addresses, and addresses to connections: the two doors to the network, so that tests can bring their own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

Resolve = Callable[[str, int, float], Sequence[str]]
"""Host, port and seconds to every address of the name. Raises OSError."""

Dial = Callable[[str, int, float], socket.socket]
"""Address, port and seconds to a connected socket. Raises OSError."""


def resolve(host: str, port: int, seconds: float) -> Sequence[str]:
    """By the system's resolver, which knows no time limit of its own: it is asked on a thread that nobody waits for."""
    answer: SimpleQueue[Sequence[str] | OSError] = SimpleQueue()
    threading.Thread(target=lambda: answer.put(_resolved(host, port)), daemon=True).start()
    with suppress(Empty):
        found = answer.get(timeout=seconds)
        if isinstance(found, OSError):
            raise found
        return found
    raise TimeoutError(f"{host} was not resolved in time")


def _resolved(host: str, port: int) -> Sequence[str] | OSError:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as fault:
        return fault
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def dial(address: str, port: int, seconds: float) -> socket.socket:
    """To an address: nothing is resolved here any more."""
    return socket.create_connection((address, port), seconds)
