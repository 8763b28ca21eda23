"""The MCP servers that agents of this process use: what they list, kept for a while, and calls of their tools."""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from chalicelib.adapters.tools.mcp_client import McpClient, Terms
from chalicelib.adapters.tools.mcp_line import McpLine, NoAnswer, NotSent
from chalicelib.adapters.tools.mcp_results import outcome
from chalicelib.adapters.tools.mcp_words import Refused
from chalicelib.core.declared import McpServer
from chalicelib.core.errors import Unavailable
from chalicelib.core.mcp import RemoteTool
from chalicelib.core.tools import Invocation, ToolResult
from chalicelib.ports.clock import Clock

logger = logging.getLogger(__name__)

LISTING_SECONDS = 5.0
"""For the lists of all servers of an agent."""

KEPT = timedelta(minutes=5)
KEPT_IF_DOWN = timedelta(seconds=30)
MOST_SERVERS = 256
"""That are remembered at once; the oldest is forgotten first."""

SecretOf = Callable[[str, str], str | None]
"""Account and name to the secret, None if there is none of that name. Raises `Unavailable`."""


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

    def are_known(self, account_id: str, servers: Sequence[McpServer]) -> bool:
        """Whether the lists of all of them are at hand."""
        return all(self._is_young(self._one(account_id, server)) for server in servers)

    def _is_young(self, known: _Known) -> bool:
        return known.until is not None and self._clock.now() < known.until

    def listings(self, account_id: str, servers: Sequence[McpServer]) -> Mapping[str, Listing]:
        """By the servers' names; all are asked at once. A server that does not answer in time is down."""
        until = self._clock.now() + timedelta(seconds=LISTING_SECONDS)
        found: dict[str, Listing] = {}

        def look(server: McpServer) -> None:
            found[server.name] = self._listing(account_id, server, until)

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
        call, secret = invocation.call, None
        try:
            secret = self._secret(invocation.account_id, server)
            terms = Terms(invocation.deadline, invocation.stop, secret)
            client = self._one(invocation.account_id, server).client
            result = outcome(client.call(tool, call.args, call.call_id, terms))
        except NotSent as why:
            result = _failed(f"The server {server.name} was not asked: {why}.")
        except Refused as refused:
            result = _failed(f"The server {server.name} refused the call: {refused}")
        except NoAnswer as why:
            said = f"The server {server.name} was asked, and gave no usable answer: {why}."
            result = replace(_failed(said), unknown=not tool.spec.effect.repeatable)
        return replace(result, content=_redacted(result.content, secret))

    def _listing(self, account_id: str, server: McpServer, until: datetime) -> Listing:
        known = self._one(account_id, server)
        with known.lock:
            if not self._is_young(known):
                known.listing = self._listed(account_id, server, known.client, until)
                known.until = self._clock.now() + (KEPT if known.listing.problem is None else KEPT_IF_DOWN)
            return known.listing

    def _listed(self, account_id: str, server: McpServer, client: McpClient, until: datetime) -> Listing:
        secret = None
        try:
            secret = self._secret(account_id, server)
            entries = client.tools(Terms(until, token=secret))
            return Listing([_redacted_within(entry, secret) for entry in entries])
        except (NotSent, NoAnswer, Refused) as why:
            problem = _redacted(str(why), secret)
        # Whatever else a stranger's answer sets off: without a listing to keep, the server would be asked for ever.
        except Exception as fault:
            problem = f"its list could not be read ({type(fault).__name__})"
        logger.warning("an MCP server is down: account_id=%s name=%s: %s", account_id, server.name, problem)
        return Listing(problem=problem)

    def _one(self, account_id: str, server: McpServer) -> _Known:
        key = (account_id, server.url, server.secret)
        with self._lock:
            if key not in self._known:
                if len(self._known) >= MOST_SERVERS:
                    del self._known[next(iter(self._known))]
                self._known[key] = _Known(McpClient(McpLine(server.url, loopback=self._loopback), self._clock))
            return self._known[key]

    def _secret(self, account_id: str, server: McpServer) -> str | None:
        """Fetched anew each time, so that a new one counts at once. Raises `NotSent`."""
        if server.secret is None:
            return None
        try:
            secret = self._secret_of(account_id, server.secret)
        except Unavailable as fault:
            raise NotSent(f"the secret {server.secret} cannot be fetched at the moment") from fault
        if not secret:
            raise NotSent(f"the account has no secret {server.secret}")
        if not (secret.isascii() and secret.isprintable()):
            raise NotSent(f"the secret {server.secret} holds characters that no HTTP header takes")
        return secret


def _redacted(text: str, secret: str | None) -> str:
    """A server may say back what it was sent."""
    if secret is None:
        return text
    encoded = base64.b64encode(secret.encode()).decode()
    for spelled in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), encoded):
        text = text.replace(spelled, "[secret]")
    return text


def _redacted_within(value: Any, secret: str | None) -> Any:
    """The same of JSON: in its strings, in names, and in numbers, which a secret of digits may be."""
    if isinstance(value, dict):
        return {_redacted(name, secret): _redacted_within(each, secret) for name, each in value.items()}
    if isinstance(value, list):
        return [_redacted_within(each, secret) for each in value]
    if isinstance(value, str):
        return _redacted(value, secret)
    said = json.dumps(value)
    redacted = _redacted(said, secret)
    return value if redacted == said else redacted


def _failed(content: str) -> ToolResult:
    return ToolResult(ok=False, content=content)
