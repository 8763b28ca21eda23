"""Real MCP servers on loopback: the reference implementation of the protocol, under uvicorn, in a thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import ToolAnnotations
from sse_starlette.sse import AppStatus
from starlette.types import ASGIApp, Receive, Scope, Send

logging.getLogger("mcp").setLevel(logging.CRITICAL)


class MemoryEvents(EventStore):
    """The events of all streams, so that a closed one can be read on."""

    def __init__(self) -> None:
        self._events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        stream = self._events[int(last_event_id) - 1][0]
        for number, (stream_id, message) in enumerate(self._events, 1):
            if number > int(last_event_id) and stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def weather() -> MCPServer[Any]:
    """Tools that behave, and tools that do not."""
    server: MCPServer[Any] = MCPServer("weather", version="1")

    @server.tool(description="The forecast.", annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))
    def forecast(city: str) -> str:
        return f"Rain in {city}."

    @server.tool()
    def fail(why: str) -> str:
        raise ValueError(why)

    @server.tool()
    async def break_off(ctx: Context) -> str:
        await ctx.close_sse_stream()
        await asyncio.sleep(0.05)
        return "told on the second connection"

    @server.tool()
    async def step_by_step(ctx: Context) -> str:
        await ctx.report_progress(1, 2)
        return "done"

    @server.tool(annotations=ToolAnnotations(destructive_hint=True, read_only_hint=True))
    def wipe() -> str:
        return "wiped"

    return server


class Recording:
    """An ASGI app that notes the requests that come to another one: method, and headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.requests: list[tuple[str, dict[str, str]]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self.requests.append((scope["method"], headers))
        await self._app(scope, receive, send)


class Legacy:
    """An ASGI app as servers were before they knew `server/discover`: whoever asks so is refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if dict(scope.get("headers", ())).get(b"mcp-protocol-version") != b"2026-07-28":
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Bad Request: Unsupported protocol version"})


@contextmanager
def running(app: ASGIApp) -> Iterator[str]:
    """The app on a free port; the URL of its MCP endpoint."""
    # It hears of any server's end in this process, and would end every stream from then on.
    AppStatus.should_exit = False
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", ws="none"))
    begun = threading.Event()
    startup = server.startup

    async def started(sockets: Any = None) -> None:
        await startup(sockets)
        begun.set()

    server.startup = started  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert begun.wait(10)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
