"""Many who follow one run by WebSocket, on one event loop: each subscribes again with its cursor until the run ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from bench.crowd import Watcher
from bench.followers import PING_EVERY


class SocketWatcher(Watcher):
    """A `Watcher` by WebSocket. What is not above its cursor it drops, as docs/delivery.md asks of it."""

    async def subscribe(self, client: httpx.AsyncClient, port: int, run_id: str, pause: float) -> None:
        """Follow until the run's end by the sockets at that port; `pause` seconds lie between two of them.

        The client has the key, and asks the API for tickets.
        """
        while not self.ended:
            self.connections += 1
            with suppress(OSError, WebSocketException):  # it broke
                await self._follow(await self._open(client, port), run_id)
            if not self.ended:
                await asyncio.sleep(pause)

    async def _open(self, client: httpx.AsyncClient, port: int) -> ClientConnection:
        try:
            answer = await client.post("/v1/tickets", json={})
            ticket = answer.raise_for_status().json()["ticket"]
            url = f"ws://127.0.0.1:{port}/v1/socket?ticket={ticket}"
            return await connect(url, proxy=None, open_timeout=30)
        except (OSError, WebSocketException, httpx.HTTPError) as fault:
            self.refused += 1
            raise OSError("no socket was opened") from fault

    async def _follow(self, socket: ClientConnection, run_id: str) -> None:
        async with socket:
            since = self.seqs[-1] if self.seqs else -1
            await socket.send(json.dumps({"action": "subscribe", "run_id": run_id, "since": since}))
            while not self.ended:
                self._take(await _frame(socket))

    def _take(self, frame: Mapping[str, Any]) -> None:
        for event in frame.get("events", ()):
            last = self.seqs[-1] if self.seqs else -1
            if event["seq"] == last + 1:
                self.note(event)
            elif event["seq"] <= last:
                self.dropped += 1
            else:
                raise OSError("an event is out of reach: again, with the cursor")
        self.ended = self.ended or bool(frame.get("done"))


async def _frame(socket: ClientConnection) -> Mapping[str, Any]:
    """The next frame; silence is broken by a ping."""
    while True:
        try:
            async with asyncio.timeout(PING_EVERY):
                frame: Mapping[str, Any] = json.loads(await socket.recv())
                return frame
        except TimeoutError:
            await socket.send(json.dumps({"action": "ping"}))
