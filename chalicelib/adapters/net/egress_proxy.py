"""A proxy for one run of code: CONNECT to approved hosts, on a socket in the file system, and to nothing else.

It judges as `http_get` does: the name, then every address that it resolves to; what is dialled is an address that was
judged. It sees no further into what goes through than to count it.
"""

from __future__ import annotations

import logging
import os
import re
import selectors
import socket
import threading
from contextlib import ExitStack, suppress

from chalicelib.adapters.net import dialling
from chalicelib.adapters.net.deadline import Deadline
from chalicelib.core.egress import EgressPolicy, Target
from chalicelib.core.errors import EgressRefused

logger = logging.getLogger(__name__)

CONNECT_SECONDS, IDLE_SECONDS = 5.0, 30.0
MOST_HEAD = 8_192
PIECE = 65_536

_ASKED = re.compile(rb"CONNECT ([^ \r\n]{1,300}) HTTP/1\.[01]\r\n")


class EgressProxy:
    """Stands while its block lasts. `connections` and `traffic` (bytes, both ways) are all that the run gets."""

    def __init__(
        self,
        path: str,
        policy: EgressPolicy,
        *,
        resolve: dialling.Resolve = dialling.resolve,
        dial: dialling.Dial = dialling.dial,
        connections: int = 64,
        traffic: int = 16 << 20,
    ) -> None:
        self._path = path
        self._policy = policy
        self._resolve = resolve
        self._dial = dial
        self._connections = connections
        self._traffic = traffic
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> EgressProxy:
        self._listener.bind(self._path)
        # The folder around it lets in the code's user and nobody else.
        os.chmod(self._path, 0o666)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._connections = 0
            for each in (self._listener, *self._open):
                # Closing alone wakes nobody who waits in it.
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with ExitStack() as stack, suppress(OSError):
            self._hold(client, stack)
            answer, remote = self._answer(client)
            if remote is not None:
                self._hold(remote, stack)
            client.sendall(answer)
            if remote is not None:
                self._carry(client, remote)

    def _hold(self, held: socket.socket, stack: ExitStack) -> None:
        """Close it at the end, here's or the proxy's."""
        stack.enter_context(held)
        with self._lock:
            self._open.add(held)
        stack.callback(self._let_go, held)

    def _let_go(self, held: socket.socket) -> None:
        with self._lock:
            self._open.discard(held)

    def _answer(self, client: socket.socket) -> tuple[bytes, socket.socket | None]:
        try:
            target = _asked(client)
            remote = self._connected(target)
        except EgressRefused as refused:
            logger.info("egress refused: %s: %s", refused.code, refused.detail)
            return _told(403, refused.detail), None
        except OSError as fault:
            return _told(502, str(fault)), None
        logger.info("egress allowed: %s", target.place)
        return b"HTTP/1.1 200 Connected\r\n\r\n", remote

    def _connected(self, target: Target) -> socket.socket:
        with self._lock:
            if self._connections <= 0:
                raise EgressRefused("too_many_connections", "the run has used up its connections")
            self._connections -= 1
        self._policy.admit(target)
        addresses = self._resolve(target.host, target.port, CONNECT_SECONDS)
        self._policy.admit_addresses(target, addresses)
        return self._dial(addresses[0], target.port, CONNECT_SECONDS)

    def _carry(self, client: socket.socket, remote: socket.socket) -> None:
        """Both ways, until one side ends, nothing comes any more, or the run has had its traffic."""
        other = {client: remote, remote: client}
        with selectors.DefaultSelector() as selector:
            for each in other:
                each.settimeout(IDLE_SECONDS)
                selector.register(each, selectors.EVENT_READ)
            while ready := selector.select(IDLE_SECONDS):
                for key, _ in ready:
                    source = next(each for each in other if each is key.fileobj)
                    piece = source.recv(PIECE)
                    if not piece or not self._pays(len(piece)):
                        return
                    other[source].sendall(piece)

    def _pays(self, size: int) -> bool:
        with self._lock:
            self._traffic -= size
            return self._traffic >= 0


def _asked(client: socket.socket) -> Target:
    """Where it wants to go. Raises `EgressRefused`."""
    head = b""
    with Deadline(CONNECT_SECONDS) as deadline:
        deadline.hold(client)
        while b"\r\n\r\n" not in head and len(head) <= MOST_HEAD:
            piece = client.recv(MOST_HEAD)
            if not piece:
                break
            head += piece
    asked = _ASKED.match(head)
    if asked is None or not head.endswith(b"\r\n\r\n"):
        raise EgressRefused("not_connect", "only CONNECT is understood: use https")
    return Target.parse(f"https://{asked[1].decode('ascii', 'replace')}/")


def _told(status: int, why: str) -> bytes:
    body = f"{why}\n".encode()
    head = f"HTTP/1.1 {status} Not connected\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
