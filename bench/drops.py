"""A TCP proxy that breaks the lines of those who follow a run, so many times, in the middle of a frame too."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: the line is reset when it is closed, and what was still on its way is lost."""

_FOLLOWS = re.compile(rb"^GET /v1/(runs/|socket)")
_CURSOR = re.compile(rb"\r\nlast-event-id:[^\r]*|[?]since=[0-9]+", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_HEAD_ENDS = b"\r\n\r\n"


class Drops:
    """`made` counts the lines that were broken; every other one is reset. `sizes` says after how many bytes.

    With `withhold`, no request's cursor gets through.
    """

    def __init__(self, upstream: int, drops: int, sizes: Callable[[], int], withhold: bool) -> None:
        self._upstream = upstream
        self._left = drops
        self._sizes = sizes
        self._withhold = withhold
        self.made = 0
        self.all_made = threading.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One line, and the one behind it, until either is closed."""
        with suppress(asyncio.CancelledError):  # asyncio would log a line whose task was cancelled
            await self._serve(reader, writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self._upstream)
        follows = asyncio.Event()
        pumps = [
            asyncio.create_task(self._requests(reader, up_writer, follows)),
            asyncio.create_task(self._answers(up_reader, writer, follows)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            writer.close()
            up_writer.close()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _requests(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, follows: asyncio.Event
    ) -> None:
        while True:
            try:
                head = await reader.readuntil(_HEAD_ENDS)
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            if _FOLLOWS.match(head):
                follows.set()
            body = await reader.readexactly(int(found[1])) if (found := _LENGTH.search(head)) else b""
            writer.write((_CURSOR.sub(b"", head) if self._withhold else head) + body)
            if b"\r\nupgrade: websocket" in head.lower():
                await _copy(reader, writer)
                return

    async def _answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, follows: asyncio.Event
    ) -> None:
        room: int | None = None
        try:
            while piece := await _piece(reader):
                if room is None and follows.is_set() and self._left > 0:
                    self._left -= 1
                    room = self._sizes()
                passed = piece if room is None else piece[:room]
                writer.write(passed)
                await writer.drain()
                if room is not None and (room := room - len(passed)) == 0:
                    self._cut(writer)
                    return
        finally:
            if room:
                self._left += 1  # the line ended before its time: by itself, or because its client had enough

    def _cut(self, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        if self.made % 2:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()
        if self._left == 0:
            self.all_made.set()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await _piece(reader):
        writer.write(piece)


async def _piece(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(65536)
    except ConnectionError:
        return b""


@contextmanager
def dropping(
    upstream: int, drops: int, sizes: Callable[[], int], *, withhold: bool = False
) -> Iterator[tuple[int, Drops]]:
    """The proxy's port, and what it counts; it listens in a thread of its own for as long as the block lasts."""
    proxy = Drops(upstream, drops, sizes, withhold)
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(proxy.serve, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1], proxy
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.run_until_complete(_cancelled(asyncio.all_tasks(loop)))
        loop.close()


async def _cancelled(tasks: Iterable[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
