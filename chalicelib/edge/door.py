"""The edge: an ASGI app that answers with streams, and with nothing else."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from math import inf

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from chalicelib.bootstrap import World
from chalicelib.core import sse
from chalicelib.core.api_key import Scope as KeyScope
from chalicelib.core.cursor import Answer
from chalicelib.core.errors import TooLarge
from chalicelib.edge import answers
from chalicelib.edge.blocking import Blocking
from chalicelib.edge.guard import Guard
from chalicelib.edge.pace import LoopPace, Pace
from chalicelib.edge.tail import Tails
from chalicelib.edge.watch import watch
from chalicelib.handlers import events_query, http_input

MAX_BODY = 10 * 1024 * 1024
"""Bytes, as API Gateway has it for the other doors."""

TICKET = "ticket"
STREAM_KNOWS = ("since", "replay", TICKET)
"""A stream has no pages, and nothing to wait for."""
HEALTH, RUNS = "/healthz", "/v1/runs"
EVENTS, STREAM = "/v1/runs/{run_id}/events", "/v1/runs/{run_id}/stream"
_EVENTS, _STREAM = re.compile(r"/v1/runs/[^/]+/events"), re.compile(r"/v1/runs/[^/]+/stream")


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as `http_input` reads it."""

    query_params: dict[str, str]
    headers: dict[str, str]
    raw_body: bytes = b""


def streams(scope: Scope) -> bool:
    """Whether a request asks for a stream, which is what the edge is for."""
    if scope["type"] != "http":
        return False
    request, path = Request(scope), str(scope["path"])
    if request.method == "POST":
        return path == RUNS and request.query_params.get(http_input.STREAM, "false") != "false"
    accepts = http_input.accepts(request.headers.get("accept", ""), sse.MEDIA_TYPE)
    return request.method == "GET" and bool(_STREAM.fullmatch(path) or (accepts and _EVENTS.fullmatch(path)))


class Edge:
    """The app. `world` is asked for when the first request comes."""

    def __init__(self, world: Callable[[], World], pace: Pace | None = None) -> None:
        self._blocking = Blocking(world)
        self._pace = pace or LoopPace()
        self._tails = Tails(self._pace)
        self._guard = Guard(self._blocking.identify, self._blocking.verify, self._pace)
        events = answers.answered(partial(self._get_stream, known=(*events_query.KNOWN, TICKET)))
        stream = answers.answered(partial(self._get_stream, known=STREAM_KNOWS))
        post = answers.answered(self._post_run)
        self._health = answers.answered(_get_health)
        self._routes = Starlette(
            routes=[Route(EVENTS, events), Route(STREAM, stream), Route(RUNS, post, methods=["POST"])]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if streams(scope):
            await self._routes(scope, receive, send)
        elif scope["path"] == HEALTH:
            await (await self._health(Request(scope)))(scope, receive, send)
        else:
            await answers.not_here()(scope, receive, send)

    def close(self) -> None:
        """Let every stream end soon."""
        self._tails.close()

    async def _get_stream(self, request: Request, known: tuple[str, ...]) -> Response:
        account_id = await self._reader(request, request.path_params["run_id"])
        run_id = http_input.run_id(request.path_params["run_id"])
        http_input.check_names(request.query_params, known)
        asked = events_query.read(Sent(dict(request.query_params), dict(request.headers)), sse=True)
        still_allowed = partial(self._reader, request, run_id)
        return await self._stream(account_id, run_id, asked.since, asked.in_full, still_allowed)

    async def _post_run(self, request: Request) -> Response:
        authorization = request.headers.get("authorization", "")
        still_allowed = partial(self._guard.let_in, authorization, KeyScope.RUN, KeyScope.READ)
        key = await still_allowed()
        sent = Sent(dict(request.query_params), dict(request.headers), await _body(request))
        http_input.check_names(sent.query_params, (http_input.STREAM,))
        http_input.streamed(sent.query_params, here=True)
        since, task = http_input.last_event_id(sent, {}), http_input.task(sent)
        submitted = await self._blocking.submit(task, key.account_id, http_input.idempotency_key(sent))
        stream = await self._stream(key.account_id, submitted.run.run_id, since, False, still_allowed)
        stream.headers["Location"] = f"{RUNS}/{submitted.run.run_id}"
        if submitted.replayed:
            stream.headers["Idempotent-Replayed"] = "true"
        return stream

    async def _stream(
        self, account_id: str, run_id: str, since: int, in_full: bool, still_allowed: Callable[[], Awaitable[object]]
    ) -> Response:
        async def look(since: int, in_full: bool) -> Answer:
            return await self._blocking.read(account_id, run_id, since, in_full)

        tail = self._tails.of(account_id, run_id, look)
        first = await tail.now(since, in_full)
        if first.over and not first.text:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        frames = watch(
            tail,
            first,
            in_full,
            seconds=self._blocking.stream_seconds or inf,
            pace=self._pace,
            still_allowed=still_allowed,
        )
        return StreamingResponse(frames, headers=sse.HEADERS)

    async def _reader(self, request: Request, run_id: str) -> str:
        """The account that may read the run, by a ticket in the URL or by the key in the header."""
        if TICKET in request.query_params:
            shown = await self._guard.admit(request.query_params[TICKET], run_id, KeyScope.READ)
            return shown.account_id
        key = await self._guard.let_in(request.headers.get("authorization", ""), KeyScope.READ)
        return key.account_id


async def _body(request: Request) -> bytes:
    """The body. Raises `TooLarge` as soon as that is known."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLarge("request_too_large", "a request has at most 10 MB", expected=f"at most {MAX_BODY} bytes")
    return bytes(body)


async def _get_health(request: Request) -> Response:
    http_input.check_names(request.query_params, ())
    return answers.health()
