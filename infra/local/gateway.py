"""The server on the loopback interface: the REST API, and the streaming edge and the WebSockets beside it."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from chalicelib import bootstrap
from chalicelib.edge.door import Edge, streams
from chalicelib.edge.server import LowWater
from infra.local.api import Asked, RestApi
from infra.local.console import with_console
from infra.local.refusals import Answer
from infra.local.s3_door import with_s3

HOST = "127.0.0.1"
THREADS = 128
"""Each request keeps one, and a long poll keeps it for up to 20 seconds."""
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
GRACE = 1
"""Seconds that open connections have when the gateway closes."""


LARGEST_MESSAGE = 32 * 1024
"""Bytes that a client may send in one message: API Gateway's frame."""


class PortTaken(RuntimeError):  # noqa: N818 - named by what happened
    """Somebody listens on that port already."""


def listen(port: int) -> socket.socket:
    """A socket on the loopback interface; port 0 takes a free one."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            raise PortTaken(str(port)) from None
        raise
    return listener


class Gateway:
    """Serves an API on a socket, in a thread of its own."""

    def __init__(
        self, api: RestApi, sockets: ASGIApp, listener: socket.socket, console_key: Path | None = None
    ) -> None:
        self._edge = Edge(bootstrap.world)
        served = with_s3(_beside(_asgi(api.ask), self._edge, sockets))
        config = uvicorn.Config(
            with_console(served, console_key) if console_key else served,
            log_config=None,
            access_log=False,
            lifespan="off",
            http=LowWater,
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=GRACE,
        )
        # Its other lines have the whole URL of each socket, and so its ticket.
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
        self._listener = listener
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"

    def open(self) -> None:
        # A connection that comes before the server runs waits in the socket's backlog.
        self._listener.listen()
        self._thread.start()

    def close(self) -> None:
        self._edge.close()
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()


def _beside(rest: ASGIApp, edge: Edge, sockets: ASGIApp) -> ASGIApp:
    """The edge for whatever asks for a stream, `sockets` for what wants to be one, `rest` for the rest."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        served = sockets if scope["type"] == "websocket" else edge if streams(scope) else rest
        await served(scope, receive, send)

    return app


def _asgi(ask: Callable[[Asked], Answer]) -> Starlette:
    limiter: list[anyio.CapacityLimiter] = []

    async def rest(request: Request) -> Response:
        if not limiter:  # belongs to the event loop, so it is made inside
            limiter.append(anyio.CapacityLimiter(THREADS))
        path = request.scope["raw_path"].decode("latin-1")
        query = request.scope["query_string"].decode("latin-1")
        whole = f"{path}?{query}" if query else path
        asked = Asked(request.method, whole, dict(request.headers), await request.body())
        answer = await anyio.to_thread.run_sync(ask, asked, limiter=limiter[0])
        response = Response(answer.body, answer.status)
        for name, value in answer.headers:
            response.headers.append(name, value)
        return response

    return Starlette(routes=[Route("/{path:path}", rest, methods=METHODS)])
