"""uvicorn, set up for many slow readers, and for being replaced under them."""

from __future__ import annotations

import asyncio
import socket
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from chalicelib.edge.door import Edge

HIGH_WATER = 2048
"""Bytes that may wait in a connection's own buffer before its stream stops. uvicorn leaves asyncio's 64 KB."""

KERNEL_BUFFER = 64 * 1024
"""Bytes that the kernel holds for a client that does not read; left alone, it would go up to megabytes."""

GRACE = 10
"""Seconds that streams have to end when the server is told to go; a client that does not read is cut off then."""


class LowWater(H11Protocol):
    """HTTP/1.1 that soon stops writing to a client that does not read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=HIGH_WATER)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)


class EdgeServer(uvicorn.Server):
    """A server of one edge. Told to go, it takes nobody in any more, and its streams end on purpose."""

    def __init__(self, edge: Edge, port: int, host: str = "0.0.0.0") -> None:
        super().__init__(
            uvicorn.Config(
                edge,
                host=host,
                port=port,
                http=LowWater,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self._edge = edge

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._edge.close()
        super().handle_exit(sig, frame)
