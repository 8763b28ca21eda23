"""API Gateway's WebSockets: real ones, whose events reach the packaged handler, and which that reaches by moto."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
from collections.abc import Iterator
from concurrent.futures import TimeoutError as TooLate
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from moto.apigatewaymanagementapi.models import ApiGatewayManagementApiBackend
from moto.core.exceptions import JsonRESTError
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from infra.local.lambdas import Lambdas
from infra.local.overrides import override

PATH = "/v1/socket"
DOOR = "socket"
THREADS = 64
PATIENCE = 5
"""Seconds that a client has to take a frame; API Gateway would drop it, too, sooner or later."""

log = logging.getLogger("infra.local")


@dataclass(frozen=True)
class Open:
    """A socket and the event loop that it belongs to."""

    socket: WebSocket
    loop: asyncio.AbstractEventLoop

    def send(self, data: bytes) -> bool:
        """From any other thread: send a frame; whether the client took it."""
        return self._done(self.socket.send_text(data.decode()))

    def close(self) -> None:
        self._done(self.socket.close())

    def _done(self, work: Any) -> bool:
        try:
            asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)
        except (RuntimeError, WebSocketDisconnect, TooLate) as fault:
            log.debug("a socket is gone: %r", fault)
            return False
        return True


class SocketGateway:
    """The ASGI app of the sockets. Messages of one socket are handled one after the other."""

    def __init__(self, lambdas: Lambdas) -> None:
        self._lambdas = lambdas
        self._open: dict[str, Open] = {}
        self._limiter: list[anyio.CapacityLimiter] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket, connection_id = WebSocket(scope, receive, send), os.urandom(12).hex()
        query = dict(HTTPConnection(scope).query_params)
        status = await self._tell(connection_id, "$connect", queryStringParameters=query) if _is_here(scope) else 404
        if status != 200:
            await socket.send_denial_response(Response(status_code=status))
            return
        self._open[connection_id] = Open(socket, asyncio.get_running_loop())
        try:
            await socket.accept()
            await self._hear(socket, connection_id)
        finally:
            del self._open[connection_id]
            await self._tell(connection_id, "$disconnect")

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Who posts to a connection reaches its socket for as long as the block lasts, from whatever process."""

        def post(backend: ApiGatewayManagementApiBackend, data: bytes, connection_id: str) -> None:
            found = self._open.get(connection_id)
            if found is None or not found.send(data):
                raise _gone()

        def close(backend: ApiGatewayManagementApiBackend, connection_id: str) -> None:
            if connection_id not in self._open:
                raise _gone()
            self._open[connection_id].close()

        with ExitStack() as stack:
            stack.enter_context(override(ApiGatewayManagementApiBackend, "post_to_connection", post))
            stack.enter_context(override(ApiGatewayManagementApiBackend, "delete_connection", close))
            yield

    async def _hear(self, socket: WebSocket, connection_id: str) -> None:
        while (message := await socket.receive())["type"] == "websocket.receive":
            text, data = message.get("text"), message.get("bytes") or b""
            binary = text is None
            body = base64.b64encode(data).decode() if binary else text
            if await self._tell(connection_id, "$default", body=body, isBase64Encoded=binary) >= 500:
                await socket.send_json({"message": "Internal server error", "connectionId": connection_id})

    async def _tell(self, connection_id: str, route: str, **more: Any) -> int:
        """Invoke the handler; the status that it answers with."""
        if not self._limiter:  # belongs to the event loop, so it is made inside
            self._limiter.append(anyio.CapacityLimiter(THREADS))
        event = {"requestContext": {"routeKey": route, "connectionId": connection_id}, **more}
        function = self._lambdas.of_name(DOOR)
        outcome = await anyio.to_thread.run_sync(self._lambdas.invoke, function, event, limiter=self._limiter[0])
        return 502 if outcome.failed else int(outcome.payload["statusCode"])


def _is_here(scope: Scope) -> bool:
    return bool(scope["path"] == PATH)


def _gone() -> JsonRESTError:
    fault = JsonRESTError("GoneException", "the connection is gone")
    fault.code = 410
    return fault
