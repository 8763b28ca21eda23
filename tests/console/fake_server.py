"""A Pawl server whose one run goes on when the test says so, with the real console in front of it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from infra.local.console import with_console
from infra.local.gateway import listen
from tests.clients.fake_pawl import AGENT, ASKED, DIGEST, ENDS, RUN_ID, SECRET, log_of, resolved

Json = dict[str, Any]
STREAM = "text/event-stream"
SOCKET = "websocket"
CONTRACT = f"""paths:
  /v1/runs:
    post: {{content: {STREAM}}}
  /v1/runs/{{run_id}}/events:
    get: {{content: {STREAM}}}
  /v1/tickets:
    post: {{}}
"""
POLLED_ONLY = "paths:\n  /v1/runs/{run_id}/events:\n    get: {}\n"
GLANCE = 0.01


class FakeServer:
    """`tell` appends to the log; `drop` ends every open stream. `asked` has each request's method, path and kind."""

    def __init__(self) -> None:
        self.log: list[Json] = []
        self.contract = CONTRACT
        self.asked: list[tuple[str, str, str]] = []
        self.decisions: list[Json] = []
        self.refusal: Json | None = None
        self.payload: Json = {}
        self.hidden: set[int] = set()
        """Seqs that streams leave out."""
        self._drops = 0
        self._directory = TemporaryDirectory()
        key = Path(self._directory.name, "key")
        key.write_text(SECRET)
        self._listener = listen(0)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        config = uvicorn.Config(with_console(self._api(), key), log_config=None, lifespan="off", ws="websockets-sansio")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    def __enter__(self) -> Self:
        self._listener.listen()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()
        self._directory.cleanup()

    @property
    def run_url(self) -> str:
        return f"{self.url}/#{RUN_ID}"

    def tell(self, *told: tuple[str, Json]) -> None:
        self.log = log_of(*((event["type"], event["data"]) for event in self.log), *told)

    def drop(self) -> None:
        self._drops += 1

    def kinds(self) -> set[str]:
        """How the log was asked for."""
        return {kind for _, path, kind in self.asked if path.endswith(("/events", "/socket"))}

    def _api(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/openapi.yaml", lambda _: PlainTextResponse(self.contract)),
                Route("/v1/agents", lambda _: JSONResponse({"agents": [AGENT]})),
                Route("/v1/runs", self._list, methods=["GET"]),
                Route("/v1/runs", self._start, methods=["POST"]),
                Route(f"/v1/runs/{RUN_ID}/events", self._events),
                Route("/v1/tickets", self._ticket, methods=["POST"]),
                WebSocketRoute("/v1/socket", self._socket),
                Route(f"/v1/runs/{RUN_ID}/cancel", self._cancel, methods=["POST"]),
                Route("/v1/approvals", self._approvals),
                Route(f"/v1/runs/{RUN_ID}/approvals/{{approval_id}}", self._decide, methods=["POST"]),
                Route(f"/v1/runs/{RUN_ID}/payloads/{DIGEST}", lambda _: JSONResponse(self.payload)),
            ]
        )

    def _list(self, request: Request) -> Response:
        return JSONResponse({"runs": [self._run()] if self.log else [], "next": None})

    async def _start(self, request: Request) -> Response:
        self._heard(request)
        if request.headers["authorization"] != f"Bearer {SECRET}":
            return JSONResponse({"detail": "no key", "code": "unauthenticated"}, 401)
        asked = await request.json()
        self.tell(("run.accepted", {"agent": asked["agent"], "text": asked["text"]}))
        if request.query_params.get("stream"):
            return self._stream(-1, {"Location": f"/v1/runs/{RUN_ID}"})
        return JSONResponse(self._run(), 202)

    async def _events(self, request: Request) -> Response:
        kind = self._heard(request)
        since = int(request.headers.get("last-event-id", request.query_params["since"]))
        return self._stream(since, {}) if kind == STREAM else JSONResponse(self._page(since))

    async def _ticket(self, request: Request) -> Response:
        asked = await request.json()
        return JSONResponse({"ticket": f"pawlt1.{asked['run_id']}", "run_id": asked["run_id"], "expires_in": 300}, 201)

    async def _socket(self, socket: WebSocket) -> None:
        self.asked.append(("GET", socket.url.path, SOCKET))
        drops = self._drops
        await socket.accept()
        asked = await socket.receive_json()
        since, run_id = asked["since"], asked["run_id"]
        assert socket.query_params["ticket"] == f"pawlt1.{run_id}"
        while drops == self._drops:
            for event in self.log[since + 1 :]:
                since = event["seq"]
                frame = {"type": "events", "run_id": run_id, "events": [event], "done": event["type"] in ENDS}
                await socket.send_json(frame)
            await asyncio.sleep(GLANCE)
        await socket.close()

    async def _cancel(self, request: Request) -> Response:
        self.tell(("run.cancelling", {"actor": "key_1", "reason": None}))
        return JSONResponse(self._run(), 202)

    async def _approvals(self, request: Request) -> Response:
        self._heard(request)
        answered = {event["data"]["approval_id"] for event in self.log if event["type"] == "approval.resolved"}
        asked = [event for event in self.log if event["type"] == "approval.requested"]
        over = bool(self.log) and self.log[-1]["type"] in ENDS
        open_ = [event for event in asked if event["data"]["approval_id"] not in answered and not over]
        about = {"run_id": RUN_ID, "agent": "demo"}
        told = [{**about, "requested_at": event["at"], **event["data"]} for event in open_]
        return JSONResponse({"approvals": told, "next": None})

    async def _decide(self, request: Request) -> Response:
        """The first decision stands; `refusal` is what it is refused with, if it is."""
        self._heard(request)
        sent = await request.json()
        self.decisions.append(sent)
        if self.refusal is not None:
            return JSONResponse(self.refusal, self.refusal["status"])
        edited = {"edited": {"call_id": ASKED["call_id"] + "e", "args": sent["args"]}} if "args" in sent else {}
        grant = {"grant": {"tool": "send"}} if sent.get("grant") else {}
        more = {"note": sent.get("note"), **edited, **grant, "approval_id": request.path_params["approval_id"]}
        self.tell(resolved(sent["decision"], **more))
        return JSONResponse(self.log[-1])

    def _heard(self, request: Request) -> str:
        kind = request.headers.get("accept", "")
        self.asked.append((request.method, request.url.path, kind))
        return kind

    def _page(self, since: int) -> Json:
        events = self.log[since + 1 :]
        done = bool(self.log) and self.log[-1]["type"] in ENDS
        last = events[-1]["seq"] if events else since
        answer = {"events": events, "next_since": last, "has_more": False, "done": done}
        return {**answer, "status": self._run()["status"], "next_poll_ms": 50}

    def _run(self) -> Json:
        told = self.log[-1]["type"] if self.log else ""
        return {
            "run_id": RUN_ID,
            "agent": "demo",
            "status": ENDS.get(told, "waiting" if told == "run.waiting" else "streaming"),
            "created_at": "2026-11-30T12:00:00.000Z",
            "ended_at": None,
            "metadata": {"title": "Count"},
        }

    def _stream(self, since: int, headers: Json) -> Response:
        return StreamingResponse(self._frames(since), media_type=STREAM, headers=headers)

    async def _frames(self, since: int) -> AsyncIterator[str]:
        drops = self._drops
        yield ": hello\n\n"
        while drops == self._drops:
            for event in self.log[since + 1 :]:
                since = event["seq"]
                if since not in self.hidden:
                    yield f"event: {event['type']}\ndata: {json.dumps(event)}\nid: {since}\n\n"
                if event["type"] in ENDS:
                    return
            await asyncio.sleep(GLANCE)
