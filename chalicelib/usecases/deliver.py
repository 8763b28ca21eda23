"""Logs went on: tell the sockets that watch them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from chalicelib.core.cursor import Answer
from chalicelib.core.errors import Unavailable
from chalicelib.core.watch import Watch, counts
from chalicelib.ports.stream import Written
from chalicelib.usecases.disconnect import turn_away
from chalicelib.usecases.pump import Needs, Read, pump, read

KEPT = 16
"""Pages of logs that are kept for the watchers that stand at the same cursor."""


def deliver(written: Sequence[Written], *, needs: Needs, until: datetime) -> None:
    """Pump for every watch of the runs that were written to. Raises `Unavailable` when it is to be tried again."""
    for run_id, tail in _tails(written).items():
        shared = _shared(needs)
        # Furthest behind first: in a crowd that is too large for the time, nobody is always last.
        for watch in sorted(needs.watches.of_run(run_id), key=lambda watch: watch.sent):
            if needs.clock.now() >= until:
                raise Unavailable("not every watcher was told in time")
            if not counts(watch, needs.clock.now()):
                turn_away(watch.connection_id, watches=needs.watches, sockets=needs.sockets)
            elif watch.sent < tail:
                pump(watch, needs=needs, until=until, read=shared)


def _tails(written: Sequence[Written]) -> dict[str, int]:
    """How far each run's log went; records may come reordered."""
    tails: dict[str, int] = {}
    for each in written:
        tails[each.run_id] = max(each.seq, tails.get(each.run_id, each.seq))
    return tails


def _shared(needs: Needs) -> Read:
    """Reads of a run's log in which those at the same cursor share. All of them are made after the records came."""

    @lru_cache(KEPT)
    def found(run_id: str, account_id: str, sent: int, in_full: bool) -> Answer:
        return read(Watch("", run_id, account_id, sent, in_full, needs.clock.now()), needs=needs)

    return lambda watch: found(watch.run_id, watch.account_id, watch.sent, watch.in_full)
