"""A socket ends."""

from __future__ import annotations

import logging

from chalicelib.core.errors import Unavailable
from chalicelib.ports.sockets import Sockets
from chalicelib.ports.watch_store import WatchStore

log = logging.getLogger(__name__)


def disconnect(connection_id: str, *, watches: WatchStore) -> None:
    """Forget a socket that has closed."""
    watches.disconnect(connection_id)


def turn_away(connection_id: str, *, watches: WatchStore, sockets: Sockets) -> None:
    """Close a socket whose ticket no longer counts, and forget it."""
    try:
        sockets.close(connection_id)
    except Unavailable as fault:
        # It is sent nothing more either way, and API Gateway closes it once it has been idle.
        log.warning("not closed: %s", fault, extra={"action": "turn_away", "connection_id": connection_id})
    watches.disconnect(connection_id)
