"""Bring a socket up to date with a run's log: read behind its cursor, post, move the cursor, until nothing is left.

Everybody who has a reason to look runs the same pump: a subscribe, a ping, a record of the stream. Two at once may post
an event twice, and never one that is out of reach: each begins behind a cursor up to which everything was posted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.core.cursor import Answer
from chalicelib.core.errors import NotFound, Unavailable
from chalicelib.core.watch import Watch
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.sockets import Gone, Sockets
from chalicelib.ports.watch_store import WatchStore
from chalicelib.usecases.read_events import read_events

PAGE = 50
"""Events in a read."""

Read = Callable[[Watch], Answer]
Frames = Callable[[str, Answer], Sequence[str]]
"""What an answer for a run looks like on a socket."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What it takes to tell sockets of a log. `gone` makes the frame which says that a run is not there any more."""

    watches: WatchStore
    sockets: Sockets
    runs: RunStore
    clock: Clock
    frames: Frames
    gone: Callable[[str], str]
    replay_cap: int


def read(watch: Watch, *, needs: Needs) -> Answer:
    """What follows the watch's cursor, read strongly. It stamps the run as watched, too."""
    return read_events(
        watch.run_id,
        watch.sent,
        limit=PAGE,
        wait=0,
        account_id=watch.account_id,
        runs=needs.runs,
        clock=needs.clock,
        replay_cap=None if watch.in_full else needs.replay_cap,
        strong=True,
    )


def pump(watch: Watch, *, needs: Needs, until: datetime, read: Read) -> None:
    """Post what the log has for the watch. After `until`, or when its socket can't be reached, the rest is left to the
    next who looks. Raises `Unavailable` if the log or the watch can't be read."""
    at: Watch | None = watch
    while at is not None and needs.clock.now() < until:
        try:
            answer = read(at)
        except NotFound:
            _forget(at, needs)
            return
        if not answer.events and not answer.done:
            return
        if not all(say(at.connection_id, frame, needs=needs) for frame in needs.frames(at.run_id, answer)):
            return
        if answer.done:
            # Only this very watch: whoever subscribed again in the meantime wants to hear it again.
            needs.watches.finish(at)
            return
        at = _moved(at, answer.next_since, needs.watches)


def say(connection_id: str, frame: str, *, needs: Needs) -> bool:
    """Post one frame; whether the socket took it. One that is gone is forgotten."""
    try:
        needs.sockets.post(connection_id, frame)
    except Gone:
        needs.watches.disconnect(connection_id)
        return False
    except Unavailable as fault:
        log.warning("not posted: %s", fault, extra={"action": "pump", "connection_id": connection_id})
        return False
    return True


def _forget(watch: Watch, needs: Needs) -> None:
    """The run was deleted while it was watched: say so, once, and let the socket's other runs go on."""
    needs.watches.unsubscribe(watch.connection_id, watch.run_id)
    say(watch.connection_id, needs.gone(watch.run_id), needs=needs)


def _moved(watch: Watch, sent: int, watches: WatchStore) -> Watch | None:
    """The watch with its cursor moved; if somebody else has moved it, as it now stands; None if it is gone."""
    if watches.advance(watch, sent):
        return replace(watch, sent=sent)
    return watches.find(watch.connection_id, watch.run_id)
