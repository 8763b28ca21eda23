"""Many who follow one run at once, on sockets of one event loop: each reconnects with its cursor until the run ends."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from chalicelib.core.events import ENDS


@dataclass
class Watcher:
    """What one of them saw: the seqs as they came, its connections, and the longest silence between two events."""

    seqs: list[int] = field(default_factory=list)
    connections: int = 0
    refused: int = 0
    """Connections that brought no stream: refused, or answered otherwise."""
    dropped: int = 0
    """Events that came again, and were dropped by their seq."""
    silence: float = 0.0
    ended: bool = False
    _heard: float | None = None

    async def follow(self, port: int, path: str, key: str, pause: float) -> None:
        """Follow until the terminal event; `pause` seconds lie between two connections, as `retry` asks for."""
        while not self.ended:
            self.connections += 1
            with suppress(OSError, asyncio.IncompleteReadError):  # the line broke, or nobody answered
                await self._connect(port, path, key)
            if not self.ended:
                await asyncio.sleep(pause)

    async def _connect(self, port: int, path: str, key: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            cursor = f"Last-Event-ID: {self.seqs[-1]}\r\n" if self.seqs else ""
            head = f"GET {path} HTTP/1.0\r\nHost: pawl\r\nAuthorization: Bearer {key}\r\n{cursor}\r\n"
            writer.write(head.encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in answer.partition(b"\r\n")[0]:
                self.refused += 1
                return
            await self._read(reader)
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        data = b""
        while line := await reader.readline():
            if line.startswith(b"data: "):
                data = line[6:]
            elif line == b"\n":
                self.note(json.loads(data))

    def note(self, event: dict[str, Any]) -> None:
        """Take an event in; what has no seq is none."""
        if event.get("seq") is None:
            return
        now = monotonic()
        self.silence = max(self.silence, now - (self._heard or now))
        self._heard = now
        self.seqs.append(event["seq"])
        self.ended = event.get("type") in ENDS
