"""Where sockets and what they watch are kept. Everything is read strongly. A socket's rows expire with its ticket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chalicelib.core.watch import Connection, Watch


class WatchStore(Protocol):
    def connect(self, connection: Connection) -> None:
        """Keep a connection."""

    def connection(self, connection_id: str) -> tuple[Connection, frozenset[str]] | None:
        """The connection and the ids of the runs on it; None if it is not kept (any more)."""

    def disconnect(self, connection_id: str) -> None:
        """Forget the connection and everything on it."""

    def subscribe(self, watch: Watch) -> None:
        """Keep the watch, in the place of any other of the run on its connection."""

    def unsubscribe(self, connection_id: str, run_id: str) -> None:
        """Forget the watch, if there is one."""

    def find(self, connection_id: str, run_id: str) -> Watch | None:
        """The run's watch on the connection."""

    def of_run(self, run_id: str) -> Sequence[Watch]:
        """Every watch of the run."""

    def advance(self, watch: Watch, sent: int) -> bool:
        """Move the cursor if it is still where the watch says; whether it was."""

    def finish(self, watch: Watch) -> None:
        """Forget the watch if its cursor is still where it says."""
