"""`python -m tests.edge.process EVENTS BYTES`: an edge in a process of its own, whose memory can be looked at.

Its log has so many events of so many bytes, made when they are read. It prints its port, and serves until it is killed.
"""

from __future__ import annotations

import socket
import sys

from chalicelib.core.events import Event, EventType
from chalicelib.edge.door import Edge
from chalicelib.edge.server import EdgeServer
from tests.builders import an_event
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import a_world


def main(events: int, size: int) -> None:
    """Serve."""

    def made(seq: int) -> Event:
        return an_event(seq, EventType.TEXT_DELTA, step=1, attempt=1, text="x" * size)

    world = a_world(MemoryLog(events, make=made), replay_cap=10 * events)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        print(listener.getsockname()[1], flush=True)
        EdgeServer(Edge(lambda: world), port=0).run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
