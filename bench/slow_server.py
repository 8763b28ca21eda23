"""`python -m bench.slow_server DESIGN BYTES`: a server whose memory is looked at while clients do not read.

It prints its port, and writes one event of so many bytes for every line that it gets on its standard input.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from chalicelib.core import sse
from chalicelib.core.events import Event, EventType
from chalicelib.edge.door import Edge
from chalicelib.edge.server import EdgeServer
from chalicelib.handlers import http_shapes
from tests.builders import an_event
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import a_world


class QueueForEach:
    """What one writes first: a queue for each client, and each event's frame made for each queue, as it comes."""

    def __init__(self, event: Callable[[int], Event]) -> None:
        self._event = event
        self._queues: set[asyncio.Queue[bytes]] = set()
        self._seq = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self.app = Starlette(routes=[Route("/v1/runs/{run_id}/stream", self._stream)])

    def write(self) -> None:
        """Called from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._publish)

    def _publish(self) -> None:
        self._seq += 1
        for queue in self._queues:
            queue.put_nowait(sse.frame(http_shapes.event(self._event(self._seq))).encode())

    async def _stream(self, request: Request) -> StreamingResponse:
        self._loop = asyncio.get_running_loop()
        return StreamingResponse(self._frames(), headers=sse.HEADERS)

    async def _frames(self) -> AsyncIterator[bytes]:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues.add(queue)
        yield sse.HEARTBEAT.encode()
        try:
            while True:
                yield await queue.get()
        finally:
            self._queues.discard(queue)


def main(design: str, size: int) -> None:
    """Serve until it is killed."""

    def made(seq: int) -> Event:
        return an_event(seq, EventType.TEXT_DELTA, step=1, attempt=1, text="x" * size)

    if design == "cursor":
        log = MemoryLog(1, make=made)
        world = a_world(log, replay_cap=1_000_000)
        server: uvicorn.Server = EdgeServer(Edge(lambda: world), port=0)
        write: Callable[[], None] = log.grow
    else:
        queues = QueueForEach(made)
        server = uvicorn.Server(uvicorn.Config(queues.app, log_config=None, lifespan="off", ws="none"))
        write = queues.write
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(listener.getsockname()[1], flush=True)
        threading.Thread(target=_write_for_each_line, args=(write,), daemon=True).start()
        server.run(sockets=[listener])


def _write_for_each_line(write: Callable[[], None]) -> None:
    for _ in sys.stdin:
        write()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
