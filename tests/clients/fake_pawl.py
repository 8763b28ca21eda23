"""A Pawl server as its clients see it, with a scripted log. Its answers have the shapes of docs/openapi.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from tests.clients.door import Answer, Door, Json, Request

RUN_ID = "run_01jz0000000000000000000000"
DIGEST = "0d" * 32
SECRET = "pawl_" + "5e" * 32
ENDS = {"run.done": "done", "run.failed": "failed", "run.cancelled": "cancelled"}
STANDS = {**ENDS, "run.waiting": "waiting"}


def problem(status: int, code: str, detail: str, **more: Any) -> Answer:
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail, **more}
    return Answer(status, body, {"Content-Type": "application/problem+json", "X-Request-Id": "req-7"})


def log_of(*told: tuple[str, Json]) -> list[Json]:
    """A log out of types and data; an event a second."""
    return [
        {"seq": seq, "type": type, "at": f"2026-11-30T12:{seq // 60:02}:{seq % 60:02}.000Z", "data": data}
        for seq, (type, data) in enumerate(told)
    ]


def said(text: str, step: int = 1) -> tuple[str, Json]:
    return "text.delta", {"step": step, "attempt": 1, "text": text}


def replied(text: str, step: int = 1, calls: Sequence[Json] = ()) -> tuple[str, Json]:
    usage = {"input_tokens": 100, "output_tokens": 20, "estimated": False}
    return "model.replied", {"step": step, "text": text, "tool_calls": list(calls), "usage": usage, "stop": "stop"}


APPROVAL = "ap_4"
ASKED: Json = {
    "approval_id": APPROVAL,
    "call_id": f"{RUN_ID}-1-0",
    "name": "send",
    "args": {"to": "anna"},
    "digest": "5d" * 32,
    "question": "call",
    "choices": ["approve", "deny", "edit"],
    "rule": "allow send\nasked about: nobody can take it back",
    "preview": "to: anna\nsubject: Notes",
    "expires_at": "2026-12-01T12:00:04.250000+00:00",
    "on_expiry": "deny",
}
DOUBTED: Json = {**ASKED, "question": "outcome", "choices": ["happened", "retry", "abort"], "on_expiry": "fail"}


def resolved(decision: str, **more: Any) -> tuple[str, Json]:
    kept = {name: ASKED[name] for name in ("approval_id", "call_id", "on_expiry")}
    return "approval.resolved", {**kept, "decision": decision, "by": "key_1", "note": None, **more}


OPENING: tuple[tuple[str, Json], ...] = (
    ("run.accepted", {"agent": "demo", "text": "Analyse market data"}),
    ("run.started", {"attempt": 1}),
    ("step.started", {"step": 1}),
)

ASKING: tuple[tuple[str, Json], ...] = (
    *OPENING,
    replied("", calls=[{"name": "send", "args": {"to": "anna"}}]),
    ("approval.requested", ASKED),
    ("run.waiting", {"for": "approval", "until": ASKED["expires_at"], "detail": None}),
)
"""A run that waits for an answer."""

STORY = log_of(
    *OPENING,
    said("Markets "),
    said("rose."),
    replied("Markets rose."),
    ("run.done", {"output": {"text": "Markets rose."}}),
)


class FakePawl:
    """The server. `script` may answer in its place: what it returns goes out, None lets the server speak for itself."""

    def __init__(self, log: Iterable[Json] = (), script: Callable[[Request], Answer | None] | None = None) -> None:
        self.log = list(log)
        self.script = script
        self.asked: list[Request] = []
        self.page_limit = 100
        self.next_poll_ms = 0
        self.after_answer: tuple[tuple[str, Json], ...] = ()
        """What happens in the log once somebody has answered."""
        self.runs = [self.run()]
        self.door = Door(self._handle)

    @property
    def url(self) -> str:
        return self.door.url

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.door.shut()

    def status(self) -> str:
        return STANDS.get(self.log[-1]["type"], "streaming") if self.log else "pending"

    def run(self) -> Json:
        run = {
            "run_id": RUN_ID,
            "agent": "demo",
            "status": self.status(),
            "created_at": "2026-11-30T12:00:00.000Z",
            "first_token_at": None,
            "ended_at": None,
            "attempt": 1,
            "metadata": {"team": "blue"},
            "budget": {"steps": 50, "seconds": 3600},
            "waiting_for": None,
            "last_seq": len(self.log) - 1,
        }
        return run | ({"output": {"text": "Markets rose."}} if self.status() == "done" else {})

    def page(self, since: int, *, skip: int = 0) -> Json:
        """The events after `since`; `skip` leaves out the first ones, which makes a hole."""
        after = self.log[since + 1 + skip :]
        events = after[: self.page_limit]
        full = len(after) > len(events)
        return {
            "events": events,
            "next_since": events[-1]["seq"] if events else since,
            "has_more": full,
            "status": None if full else self.status(),
            "done": not full and self.status() in ENDS.values(),
            "next_poll_ms": 0 if full else self.next_poll_ms,
        }

    def _handle(self, request: Request) -> Answer:
        self.asked.append(request)
        scripted = self.script(request) if self.script else None
        return scripted or self._answer(request)

    def _answer(self, request: Request) -> Answer:
        place = request.path.removeprefix("/v1/").replace(RUN_ID, "RUN").replace(KEY["key_id"], "KEY")
        place = place.replace(APPROVAL, "APPROVAL")
        routes: dict[str, Callable[[Request], Answer]] = {
            "POST runs": self._submit,
            "GET runs": self._list,
            "GET runs/RUN": lambda _: Answer(200, self.run()),
            "GET runs/RUN/events": self._events,
            f"GET runs/RUN/payloads/{DIGEST}": lambda _: Answer(200, {"rows": [1, 2]}),
            "POST runs/RUN/cancel": lambda _: Answer(202, {"run_id": RUN_ID, "status": "cancelling"}),
            "GET approvals": lambda _: Answer(200, {"approvals": self.inbox(), "next": None}),
            "POST runs/RUN/approvals/APPROVAL": self._decide,
            "DELETE runs/RUN": lambda _: Answer(202, {"run_id": RUN_ID, "deleted": True}),
            "GET agents": lambda _: Answer(200, {"agents": [AGENT]}),
            "GET agents/clerk": lambda _: Answer(200, CLERK),
            "PUT agents/clerk": lambda request: Answer(201, {**CLERK, **request.body, "version": 3}),
            "DELETE agents/clerk": lambda _: Answer(204, ""),
            "POST keys": lambda _: Answer(201, {**KEY, **request.body, "secret": SECRET}),
            "GET keys": lambda _: Answer(200, {"keys": [KEY]}),
            "DELETE keys/KEY": lambda _: Answer(200, {**KEY, "revoked_at": "2026-11-30T13:00:00.000Z"}),
        }
        return routes.get(f"{request.method} {place}", _unknown)(request)

    def inbox(self) -> list[Json]:
        """What the log asks and has no answer to."""
        answered = {e["data"]["approval_id"] for e in self.log if e["type"] == "approval.resolved"}
        asked = [e for e in self.log if e["type"] == "approval.requested"]
        about = {"run_id": RUN_ID, "agent": "demo"}
        open_ = (e for e in asked if e["data"]["approval_id"] not in answered)
        return [{**about, "requested_at": e["at"], **e["data"]} for e in open_]

    def _decide(self, request: Request) -> Answer:
        """The first decision stands."""
        standing = [e for e in self.log if e["type"] == "approval.resolved"]
        sent = request.body
        if standing and standing[-1]["data"]["decision"] != sent["decision"]:
            told = standing[-1]["data"]
            return problem(409, "approval_decided", f"the decision was {told['decision']}, by {told['by']}")
        if not standing:
            more = {"note": sent.get("note"), **({"grant": {"tool": "send"}} if sent.get("grant") else {})}
            said_so = resolved(sent["decision"], **more)
            self.log = log_of(*((e["type"], e["data"]) for e in self.log), said_so, *self.after_answer)
            standing = [e for e in self.log if e["type"] == "approval.resolved"]
        return Answer(200, standing[-1])

    def _submit(self, _request: Request) -> Answer:
        return Answer(202, {name: self.run()[name] for name in ("run_id", "agent", "status", "created_at")})

    def _list(self, request: Request) -> Answer:
        at, size = int(request.query.get("next", 0)), int(request.query.get("limit", 20))
        following = str(at + size) if at + size < len(self.runs) else None
        return Answer(200, {"runs": self.runs[at : at + size], "next": following})

    def _events(self, request: Request) -> Answer:
        since = int(request.query["since"])
        if since >= len(self.log):
            return problem(400, "since_ahead_of_log", "the cursor is ahead of the log", field="since")
        return Answer(200, self.page(since))


def _unknown(_request: Request) -> Answer:
    return problem(404, "run_not_found", "there is no such run", request_id="req-7")


AGENT: Json = {
    "name": "demo",
    "version": 0,
    "built_in": True,
    "description": "A scripted analyst",
    "model": "scripted:demo",
    "tools": ["clock"],
    "budget": {"steps": 50, "seconds": 3600},
}
CLERK: Json = {
    **AGENT,
    "name": "clerk",
    "version": 2,
    "built_in": False,
    "prompt": "Be careful.",
    "declared": [{"kind": "mcp", "name": "wiki", "url": "https://wiki.example/mcp"}],
    "permissions": [{"effect": "deny", "tool": "sign"}],
    "answer_within": 600,
    "on_expiry": "fail",
}
KEY: Json = {
    "key_id": "key_1",
    "name": "laptop",
    "scopes": ["read", "run"],
    "created_at": "2026-11-30T12:00:00.000Z",
    "revoked_at": None,
}
