"""Server-Sent Events: how an event stands on the wire, so that every client that was tried takes it rightly."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MEDIA_TYPE = "text/event-stream"
HEADERS = {"Content-Type": MEDIA_TYPE, "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
"""Of every answer that is a stream: no cache keeps it, no proxy compresses it or holds it back."""

HEARTBEAT = ": heartbeat\n"
"""A comment: clients pass over it, and proxies take it for life. An empty line behind it would be an event to some."""

TROUBLE_RETRY_MS = 5000


def frame(told: Mapping[str, Any]) -> str:
    """One event, as clients are told of it.

    One line of data (JSON escapes every line end) and `id` last: a client that adopts an id as soon as it reads one
    must not have it from a frame that is cut off before its data.
    """
    data = json.dumps(told, separators=(",", ":"))
    return f"event: {told['type']}\ndata: {data}\nid: {told['seq']}\n\n"


def with_retry(frames: str, milliseconds: int) -> str:
    """The frames, and how long the client waits before it reconnects. Alone, it would be an empty event to some."""
    return f"retry: {milliseconds}\n{frames}"


def trouble() -> str:
    """The whole body of an answer that cannot be given now. A 5xx would end a browser's EventSource for good.

    It bears no id, so the cursor stays; and it has data, since some clients choke on a frame that has none.
    """
    data = json.dumps({"code": "unavailable", "retry_ms": TROUBLE_RETRY_MS}, separators=(",", ":"))
    return with_retry(f": unavailable, try again\nevent: trouble\ndata: {data}\n\n", TROUBLE_RETRY_MS)
