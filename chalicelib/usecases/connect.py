"""A socket opens."""

from __future__ import annotations

from chalicelib.core import ticket, watch
from chalicelib.core.watch import Connection
from chalicelib.ports.clock import Clock
from chalicelib.ports.watch_store import WatchStore


def connect(connection_id: str, sent: str, *, secret: bytes, watches: WatchStore, clock: Clock) -> Connection:
    """Let a socket in by the ticket that was sent. Raises `Unauthenticated`."""
    connection = watch.opened(connection_id, ticket.verify(sent, secret, clock.now()))
    watches.connect(connection)
    return connection
