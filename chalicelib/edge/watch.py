"""One watcher's stream, from its first frame to the end."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from chalicelib.core import sse
from chalicelib.core.errors import PayloadMissing, Refusal, Unavailable
from chalicelib.edge.frames import Chunk
from chalicelib.edge.pace import Pace
from chalicelib.edge.tail import Tail

RETRY_MS = 1000
"""What a client waits before it reconnects: long enough for a restart, short enough for a reader."""

log = logging.getLogger(__name__)


async def watch(
    tail: Tail,
    first: Chunk,
    in_full: bool,
    *,
    seconds: float,
    pace: Pace,
    still_allowed: Callable[[], Awaitable[object]],
) -> AsyncIterator[bytes]:
    """The frames of a log, until it ends, the time is up, the edge closes or the key counts no more.

    What a client has not read yet is not held here: this goes on only when the last write is nearly out.
    """
    ends_at = pace.now() + seconds
    chunk, begun = first, False
    while True:
        yield _written(chunk, begun)
        begun = begun or bool(chunk.text)
        if chunk.over or tail.closed or pace.now() >= ends_at:
            return
        try:
            await still_allowed()
            chunk = await tail.after(chunk.last, in_full)
        except Unavailable as fault:
            log.warning("stream broken off: %s", fault, extra={"action": "watch"})
            yield sse.trouble().encode()
            return
        except (Refusal, PayloadMissing) as fault:
            log.info("stream ended: %s", fault.code, extra={"action": "watch"})
            return


def _written(chunk: Chunk, begun: bool) -> bytes:
    """Something always, at once too: proxies pass the headers on with it. `retry` waits for a frame to stand in."""
    if not chunk.text:
        return sse.HEARTBEAT.encode()
    return chunk.text if begun else sse.with_retry(chunk.text.decode(), RETRY_MS).encode()
