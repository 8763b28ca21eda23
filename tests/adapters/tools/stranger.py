"""An MCP server on loopback that answers as a test tells it to, and not as the protocol does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chalicelib.core.declared import McpServer
from tests.adapters.net.website import Asked, Said, serving

JSON = {"Content-Type": "application/json"}
STREAM = {"Content-Type": "text/event-stream"}


def raw(body: bytes, status: int = 200, headers: Mapping[str, str] = JSON) -> Said:
    """These bytes, and then the connection is closed."""
    return Said(status, headers, lambda: iter((body,)))


def result(asked: Asked, **members: Any) -> Said:
    """A result as it should be."""
    request = json.loads(asked.body)
    return raw(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": members}).encode())


def text(asked: Asked, said: str) -> Said:
    """The result of a tool that says so."""
    return result(asked, content=[{"type": "text", "text": said}], resultType="complete")


def error(asked: Asked, code: int, said: str, status: int = 200) -> Said:
    request = json.loads(asked.body)
    return raw(
        json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": said}}).encode(), status
    )


def discovered(asked: Asked) -> Said:
    return result(asked, supportedVersions=["2026-07-28"], capabilities={}, resultType="complete")


def nothing_special(name: str = "act", **more: Any) -> dict[str, Any]:
    """A tool in a server's list."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


@dataclass
class Stranger:
    """Answers by the method that is asked for; `asked` holds those methods in their order."""

    answers: dict[str, Callable[[Asked], Said]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    requests: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> Said:
        method = json.loads(asked.body)["method"] if asked.body else asked.method
        self.asked.append(method)
        self.requests.append(asked)
        return self.answers[method](asked)


@contextmanager
def a_stranger(secret: str | None = None, **answers: Callable[[Asked], Said]) -> Iterator[tuple[McpServer, Stranger]]:
    """A server that lists one tool, `act`. `answers` are by the last word of the method."""
    stranger = Stranger(
        {
            "server/discover": answers.get("discover", discovered),
            "tools/list": answers.get("list", lambda asked: result(asked, tools=[nothing_special()])),
            "tools/call": answers.get("call", lambda asked: text(asked, "acted")),
            "initialize": answers.get("initialize", lambda asked: raw(b"", 404)),
        }
    )
    with serving(stranger.answer) as site:
        yield McpServer("strange", f"http://127.0.0.1:{site.port}/mcp", secret), stranger
