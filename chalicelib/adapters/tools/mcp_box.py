"""The tools of an agent's MCP servers, as far as these are there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from chalicelib.adapters.tools.mcp_servers import Listing, McpServers
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Tool
from chalicelib.core import mcp
from chalicelib.core.declared import McpServer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the servers listed when they were last looked at."""

    listings: Mapping[str, Listing]
    box: FunctionToolbox
    names: Sequence[str]


class RemoteBox:
    """The tools of an agent's MCP servers, which are asked for their lists once a question needs them.

    Between two questions for all of its tools nothing changes: a call without a problem is one of a tool that is there.
    """

    def __init__(self, account_id: str, servers: Sequence[McpServer], known: McpServers) -> None:
        self._account_id = account_id
        self._servers: dict[str, McpServer] = {}
        for server in servers:
            self._servers.setdefault(server.name, server)
        self._known = known
        self._last: _Seen | None = None

    def pending(self) -> Callable[[], object] | None:
        """The look at the servers, if what is known of one is not there or too old."""
        fresh = self._known.are_known(self._account_id, [*self._servers.values()])
        return None if fresh else self._look

    def may_have(self, name: str) -> bool:
        """Whether a tool of that name would be one of these servers'."""
        return mcp.server_of(name) in self._servers

    def why_lost(self, name: str) -> str | None:
        """What to tell a model that calls a tool of a server that is down, None if it is not."""
        server = mcp.server_of(name)
        why = self._seen.listings[server].problem if server in self._servers else None
        return why and f"The server {server} is down: {why}. Do without its tools, or try again later."

    def names_now(self) -> Sequence[str]:
        """The names of all its tools, as the servers list them now."""
        return self._look().names

    @property
    def box(self) -> FunctionToolbox:
        return self._seen.box

    @property
    def _seen(self) -> _Seen:
        return self._last or self._look()

    def _look(self) -> _Seen:
        listings = self._known.listings(self._account_id, [*self._servers.values()])
        last = self._last
        if last is None or any(listing is not last.listings[name] for name, listing in listings.items()):
            tools = self._tools(listings)
            last = self._last = _Seen(listings, FunctionToolbox(tools), [spec.name for spec, _ in tools])
        return last

    def _tools(self, listings: Mapping[str, Listing]) -> list[Tool]:
        tools: list[Tool] = []
        for name, server in self._servers.items():
            taken = mcp.taken(server, listings[name].entries)
            for line in taken.left_out:
                logger.warning("a tool is left out: account_id=%s server=%s %s", self._account_id, name, line)
            tools += [(tool.spec, partial(self._known.call, server, tool)) for tool in taken.tools.values()]
        return tools
