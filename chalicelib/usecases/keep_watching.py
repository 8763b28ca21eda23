"""A socket says that it is still there."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from chalicelib.core.watch import Connection
from chalicelib.usecases.pump import Needs, pump, read


def keep_watching(connection: Connection, run_ids: frozenset[str], *, needs: Needs, until: datetime) -> None:
    """Stamp the socket's runs as watched, and post what they have.

    It finds what no record told of: text from before its writer knew of a watcher, and a batch that was given up.
    """
    for run_id in sorted(run_ids):
        watch = needs.watches.find(connection.connection_id, run_id)
        if watch is not None:
            pump(watch, needs=needs, until=until, read=partial(read, needs=needs))
