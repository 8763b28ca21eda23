"""A socket begins to watch a run, and ends to."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from chalicelib.core import ticket
from chalicelib.core import watch as rules
from chalicelib.core.watch import Connection, Watch
from chalicelib.usecases.pump import Needs, pump, read, say


def subscribe(
    connection: Connection,
    run_ids: frozenset[str],
    run_id: str,
    since: int,
    *,
    in_full: bool,
    reply: str,
    needs: Needs,
    until: datetime,
) -> None:
    """Watch the run from the cursor `since` on, which replaces an earlier one: say `reply`, then post what is there.

    `run_ids` is what the socket watches already. Raises `Forbidden`, `NotFound`, `Conflict` for one run too many, and
    `InvalidInput` for a cursor ahead of the log; nothing is kept then.
    """
    ticket.permit(connection.run_id, run_id)
    rules.make_room(run_ids, run_id)
    watch = Watch(connection.connection_id, run_id, connection.account_id, since, in_full, connection.expires_at)
    read(watch, needs=needs)
    # The watch stands before the log is read: what is written after that read finds it.
    needs.watches.subscribe(watch)
    if say(connection.connection_id, reply, needs=needs):
        pump(watch, needs=needs, until=until, read=partial(read, needs=needs))


def unsubscribe(connection: Connection, run_id: str, *, needs: Needs) -> None:
    """Watch the run no longer; a run that was not watched is no fault."""
    needs.watches.unsubscribe(connection.connection_id, run_id)
