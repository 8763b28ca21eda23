"""The MCP servers that agents of this process use: what they list, kept for a while, and calls of their tools."""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from chalicelib.adapters.tools.mcp_client import Limits, McpClient
from chalicelib.adapters.tools.mcp_line import McpLine, NoAnswer, NotSent
from chalicelib.adapters.tools.mcp_results import outcome
from chalicelib.adapters.tools.mcp_words import Refused
from chalicelib.core.declared import McpServer
from chalicelib.core.mcp import RemoteTool
from chalicelib.core.tools import Invocation, ToolResult
from chalicelib.ports.clock import Clock

logger = logging.getLogger(__name__)

LISTING_SECONDS = 5.0
"""For the lists of all servers of an agent: a run's lease is not renewed meanwhile."""

KEPT = timedelta(minutes=5)
KEPT_IF_DOWN = timedelta(seconds=30)
MOST_SERVERS = 256
"""That are remembered at once; the oldest is forgotten first."""

SecretOf = Callable[[str, str], str | None]
"""Account and name to the secret, None if there is none of that name."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server lists, unchecked; `problem` says why that is nothing."""

    entries: Sequence[Any] = ()
    problem: str | None = None


@dataclass(slots=True)
class _Known:
    client: McpClient
    listing: Listing = Listing()
    until: datetime | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class McpServers:
    """Thread-safe. `loopback` lets servers on one's own machine in: for the laptop, never for a deployment."""

    def __init__(self, secret_of: SecretOf, clock: Clock, *, loopback: bool = False) -> None:
        self._secret_of = secret_of
        self._clock = clock
        self._loopback = loopback
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str, str | None], _Known] = {}

    def listings(self, account_id: str, servers: Sequence[McpServer]) -> Mapping[str, Listing]:
        """By the servers' names; all are asked at once. A server that does not answer in time is down."""
        limits = Limits(self._clock.now() + timedelta(seconds=LISTING_SECONDS))
        found: dict[str, Listing] = {}

        def look(server: McpServer) -> None:
            found[server.name] = self._listing(account_id, server, limits)

        threads = [threading.Thread(target=look, args=(server,), daemon=True) for server in servers[1:]]
        for thread in threads:
            thread.start()
        for server in servers[:1]:
            look(server)
        for thread in threads:
            thread.join()
        return found

    def call(self, server: McpServer, tool: RemoteTool, invocation: Invocation) -> ToolResult:
        """Make the call. Whatever the server does is a result; `unknown` where nobody knows what it did."""
        account_id, limits = invocation.account_id, Limits(invocation.deadline, invocation.stop)
        client = self._one(account_id, server).client
        call = invocation.call
        try:
            result = outcome(client.call(tool, call.args, call.call_id, limits))
        except NotSent as why:
            result = _failed(f"The server {server.name} was not asked: {why}.")
        except Refused as refused:
            result = _failed(f"The server {server.name} refused the call: {refused}")
        except NoAnswer as why:
            said = f"The server {server.name} was asked, and gave no usable answer: {why}."
            result = replace(_failed(said), unknown=not tool.spec.effect.repeatable)
        return replace(result, content=self._redacted(result.content, account_id, server))

    def _listing(self, account_id: str, server: McpServer, limits: Limits) -> Listing:
        known = self._one(account_id, server)
        with known.lock:
            if known.until is None or self._clock.now() >= known.until:
                known.listing = self._listed(account_id, server, known.client, limits)
                known.until = self._clock.now() + (KEPT if known.listing.problem is None else KEPT_IF_DOWN)
            return known.listing

    def _listed(self, account_id: str, server: McpServer, client: McpClient, limits: Limits) -> Listing:
        try:
            return Listing(client.tools(limits))
        except (NotSent, NoAnswer, Refused) as why:
            problem = self._redacted(str(why), account_id, server)
            logger.warning("an MCP server is down: account_id=%s name=%s: %s", account_id, server.name, problem)
            return Listing(problem=problem)

    def _one(self, account_id: str, server: McpServer) -> _Known:
        key = (account_id, server.url, server.secret)
        with self._lock:
            if key not in self._known:
                if len(self._known) >= MOST_SERVERS:
                    del self._known[next(iter(self._known))]
                line = McpLine(server.url, loopback=self._loopback)
                token = self._token(account_id, server)
                self._known[key] = _Known(McpClient(line, token, self._clock))
            return self._known[key]

    def _token(self, account_id: str, server: McpServer) -> Callable[[], str | None]:
        def token() -> str | None:
            if server.secret is None:
                return None
            secret = self._secret_of(account_id, server.secret)
            if secret is None:
                raise NotSent(f"the account has no secret {server.secret}")
            if not (secret.isascii() and secret.isprintable()):
                raise NotSent(f"the secret {server.secret} holds characters that no HTTP header takes")
            return secret

        return token

    def _redacted(self, text: str, account_id: str, server: McpServer) -> str:
        """A server may say back what it was sent."""
        secret = self._secret_of(account_id, server.secret) if server.secret is not None else None
        if not secret:
            return text
        for spelled in (secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode()):
            text = text.replace(spelled, "[secret]")
        return text


def _failed(content: str) -> ToolResult:
    return ToolResult(ok=False, content=content)
