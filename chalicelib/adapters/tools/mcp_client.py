"""Requests to one MCP server over streamable HTTP: 2026-07-28 without a state, or an older version with a session."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from chalicelib.adapters.net import sse
from chalicelib.adapters.tools import mcp_words as words
from chalicelib.adapters.tools.mcp_line import Answer, McpLine, NoAnswer, NotSent
from chalicelib.adapters.tools.mcp_words import Refused, Session
from chalicelib.core.mcp import RemoteTool
from chalicelib.core.tools import Stop
from chalicelib.ports.clock import Clock

MOST_PAGES = 20
DEFAULT_RETRY_MS = 1_000
LEAST_RETRY_MS = 100
MOST_FAILED_RESUMES = 3

NO_SUCH_SESSION = frozenset({400, 404, 405})
"""404 says the specification; some servers answer 400, and one that has no sessions any more 405."""

Routing = Mapping[str, str]
"""Headers that say what is in a request's body."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a server is asked: until when at most, what ends it before, and by which bearer token."""

    until: datetime
    stop: Stop | None = None
    token: str | None = None


@dataclass(slots=True)
class _Stream:
    """A stream of events as far as it was read: from where it would go on, and after how long."""

    last_id: str | None = None
    retry_ms: int = DEFAULT_RETRY_MS


class McpClient:
    """How the server is spoken to is found out once, and again when it no longer understands."""

    def __init__(self, line: McpLine, clock: Clock) -> None:
        self._line = line
        self._clock = clock
        self._ids = count(1)
        self._meeting = threading.Lock()
        self._session: Session | None = None

    def tools(self, terms: Terms) -> list[Any]:
        """Everything that the server lists, unchecked. Raises `NotSent`, `NoAnswer` or `Refused`."""
        listed: list[Any] = []
        cursor: dict[str, Any] = {}
        for _ in range(MOST_PAGES):
            page = self._request("tools/list", cursor, terms)
            tools = page.get("tools")
            listed += tools if isinstance(tools, list) else []
            if not isinstance(page.get("nextCursor"), str):
                break
            cursor = {"cursor": page["nextCursor"]}
        return listed

    def call(self, tool: RemoteTool, args: Mapping[str, Any], call_id: str, terms: Terms) -> Mapping[str, Any]:
        """The result of a tool. Raises `NotSent`, `NoAnswer` or `Refused`."""
        params = {"name": tool.remote_name, "arguments": dict(args), "_meta": {words.CALL_ID: call_id}}
        return self._request("tools/call", params, terms, words.routing(tool.remote_name, args, tool.headers))

    def _request(
        self, method: str, params: Mapping[str, Any], terms: Terms, routing: Routing | None = None
    ) -> Mapping[str, Any]:
        """In a session that has ended in the meantime nothing was done: a new one is begun, once."""
        session = self._met(terms)
        try:
            return self._asked(session, method, params, terms, routing)
        except Refused as refused:
            if not _ended(session, refused):
                raise
            self._forget(session)
        return self._asked(self._met(terms), method, params, terms, routing)

    def _met(self, terms: Terms) -> Session:
        with self._meeting:
            if self._session is None:
                try:
                    self._session = self._discovered(terms) or self._initialized(terms)
                except NoAnswer as lost:
                    # What was asked of the server so far has no effect: the call itself was not sent.
                    raise NotSent(str(lost)) from lost
            return self._session

    def _forget(self, session: Session) -> None:
        with self._meeting:
            if self._session is session:
                self._session = None

    def _discovered(self, terms: Terms) -> Session | None:
        """A session without a state, if the server knows of such; whoever does not may answer with any error."""
        stateless = Session(words.STATELESS)
        try:
            versions = self._asked(stateless, "server/discover", {}, terms).get("supportedVersions")
        except Refused as refused:
            versions = refused.supported
        return stateless if isinstance(versions, list | tuple) and words.STATELESS in versions else None

    def _initialized(self, terms: Terms) -> Session:
        request_id = next(self._ids)
        with self._exchange("POST", words.HEADERS, words.handshake(request_id), terms) as answer:
            message = _message(answer, request_id, _Stream())
        version = words.result(message).get("protocolVersion")
        if version not in words.WITH_SESSIONS:
            raise NoAnswer(f"it speaks no version that is known here, but {str(version)[:40]!r}")
        session = Session(version, answer.headers.get("mcp-session-id"))
        told = "notifications/initialized"
        with self._exchange("POST", session.headers(told), session.body(told, {}, None), terms) as answer:
            _refuse(answer)
        return session

    def _asked(
        self, session: Session, method: str, params: Mapping[str, Any], terms: Terms, routing: Routing | None = None
    ) -> Mapping[str, Any]:
        request_id = next(self._ids)
        stream, message = _Stream(), None
        try:
            body = session.body(method, params, request_id)
            with self._exchange("POST", session.headers(method, routing), body, terms) as answer:
                message = _message(answer, request_id, stream)
        except NoAnswer:
            if session.stateless or stream.last_id is None:
                raise
        if message is None and not session.stateless:
            message = self._resumed(session, request_id, stream, terms)
        if message is None:
            raise NoAnswer("its stream ended without an answer")
        return words.result(message)

    def _resumed(self, session: Session, request_id: int, stream: _Stream, terms: Terms) -> Any:
        """The answer that comes on another connection, after the first one was closed early."""
        failed = 0
        while stream.last_id is not None and failed < MOST_FAILED_RESUMES and self._left(terms) > 0:
            self._wait(stream, terms)
            headers = {**session.headers("GET"), "Last-Event-ID": words.header_value(stream.last_id)}
            try:
                with self._exchange("GET", headers, None, terms) as answer:
                    if (message := _message(answer, request_id, stream)) is not None:
                        return message
            except (NotSent, NoAnswer, Refused):
                failed += 1
        return None

    def _wait(self, stream: _Stream, terms: Terms) -> None:
        seconds = max(stream.retry_ms, LEAST_RETRY_MS) / 1000
        self._clock.sleep(max(0.0, min(seconds, self._left(terms))))

    def _left(self, terms: Terms) -> float:
        stopped = terms.stop is not None and terms.stop.is_set()
        return 0 if stopped else (terms.until - self._clock.now()).total_seconds()

    def _exchange(
        self, method: str, headers: Mapping[str, str], body: bytes | None, terms: Terms
    ) -> AbstractContextManager[Answer]:
        if (left := self._left(terms)) <= 0:
            raise NotSent("there was no time left to ask it")
        authorized = {**headers, "Authorization": f"Bearer {terms.token}"} if terms.token is not None else headers
        return self._line.exchange(method, authorized, body, left, terms.stop)


def _ended(session: Session, refused: Refused) -> bool:
    """Whether the server does not understand any more how it is spoken to, and so has done nothing."""
    return refused.code == words.NEEDS_ANOTHER_VERSION if session.stateless else refused.status in NO_SUCH_SESSION


def _message(answer: Answer, request_id: int, stream: _Stream) -> Any:
    """The message that answers the request; None where a stream ended before it came."""
    _refuse(answer)
    if answer.kind == "application/json":
        return words.parsed(b"".join(answer.pieces))
    if answer.kind != "text/event-stream":
        raise NoAnswer(f"it answered {answer.kind[:80]!r}, which is neither JSON nor a stream of events")
    for frame in sse.frames(answer.pieces):
        stream.last_id = frame.id or stream.last_id
        stream.retry_ms = stream.retry_ms if frame.retry is None else frame.retry
        if frame.data and words.answers(message := words.parsed(frame.data), request_id):
            return message
    return None


def _refuse(answer: Answer) -> None:
    """Raises `Refused` for a status that says that nothing was done, `NoAnswer` for one that leaves it open."""
    if 200 <= answer.status < 300:
        return
    if answer.kind == "application/json":
        with suppress(NoAnswer):
            refused = words.refusal(words.parsed(b"".join(answer.pieces)), answer.status)
            if refused is not None:
                raise refused
    said = f"it answered with the HTTP status {answer.status}"
    raise NoAnswer(said) if answer.status >= 500 else Refused(said, status=answer.status)
