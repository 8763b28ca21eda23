"""A connection to where it may go: a name is resolved once, judged, and the judged address is the one dialled."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property

from urllib3.connection import HTTPConnection

from chalicelib.adapters.net import dialling
from chalicelib.adapters.net.deadline import Deadline
from chalicelib.core.egress import EgressPolicy, Target

CONNECT_SECONDS = 5.0


class PinnedLine:
    """A `dial` of their own lets tests put servers behind public addresses; the judge is never theirs."""

    def __init__(self, *, resolve: dialling.Resolve = dialling.resolve, dial: dialling.Dial = dialling.dial) -> None:
        self._resolve = resolve
        self._dial = dial

    @contextmanager
    def opened(self, target: Target, policy: EgressPolicy, deadline: Deadline) -> Iterator[HTTPConnection]:
        """A connection on which nothing was asked yet. Raises `EgressRefused`, or OSError where nobody takes it."""
        connection = HTTPConnection(target.host, target.port, timeout=None)
        with closing(connection):
            self._connect(connection, target, policy, deadline)
            yield connection

    def _connect(self, connection: HTTPConnection, target: Target, policy: EgressPolicy, deadline: Deadline) -> None:
        policy.admit(target)
        addresses = self._resolve(target.host, target.port, min(CONNECT_SECONDS, deadline.left()))
        policy.admit_addresses(target, addresses)
        connection.sock = plain = self._dial_one(addresses, target.port, deadline)
        deadline.hold(plain)
        if target.scheme == "https":
            # Named by the host, not by the address: the certificate must be the host's.
            connection.sock = secured = self._trust.wrap_socket(
                plain, server_hostname=target.host, do_handshake_on_connect=False
            )
            deadline.hold(secured)
            secured.do_handshake()

    def _dial_one(self, addresses: Sequence[str], port: int, deadline: Deadline) -> socket.socket:
        """To the first of the addresses that takes it."""
        *others, last = addresses
        for address in others:
            with suppress(OSError):
                return self._dialled(address, port, deadline)
        return self._dialled(last, port, deadline)

    def _dialled(self, address: str, port: int, deadline: Deadline) -> socket.socket:
        made = self._dial(address, port, min(CONNECT_SECONDS, deadline.left()))
        # From here on the deadline ends it, and nothing else.
        made.settimeout(None)
        return made

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context()
