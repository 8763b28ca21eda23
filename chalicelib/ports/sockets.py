"""Open sockets, by the ids of their connections."""

from __future__ import annotations

from typing import Protocol


class Gone(Exception):  # noqa: N818 - named by what happened
    """The connection is closed."""


class Sockets(Protocol):
    """Both raise `Unavailable` when the socket can't be reached now."""

    def post(self, connection_id: str, frame: str) -> None:
        """Send a frame. Raises `Gone`."""

    def close(self, connection_id: str) -> None:
        """Close the connection, if it is open."""
