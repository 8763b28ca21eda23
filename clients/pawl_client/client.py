"""One method for each thing that a Pawl server can be asked."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from pawl_client.errors import Misconfigured, Trouble, Unreachable
from pawl_client.pace import Pace
from pawl_client.wire import Json, Page, body_of, page_of, value_of

TRIES = 6
"""How often a submission or an answer is tried: with the delays between them, about eight seconds."""
LONGEST_WAIT = 60.0
"""A server that asks for more patience than this, in seconds, gets no further try."""
EXAMINATION = 20.0
"""Seconds that the doctor may need beyond the timeout, to read a page of runs whole."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Retrying = Callable[[Trouble, int], None]


def _keep_quiet(_trouble: Trouble, _tries: int) -> None:
    """Nobody wants to know."""


class PawlClient:
    """A connection to the server at `url` with an API key. Raises `Trouble`, see `pawl_client.errors`.

    `timeout` is in seconds and counts for connecting and for each wait for bytes; `retrying` hears of every try of a
    submission or an answer that failed and is followed by another.
    """

    def __init__(
        self, url: str, key: str, *, timeout: float = 10.0, pace: Pace | None = None, retrying: Retrying = _keep_quiet
    ) -> None:
        self.url = url.rstrip("/")
        self._timeout = timeout
        self._pace = pace or Pace()
        self._retrying = retrying
        self._http = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {_checked_key(key)}", "Accept": "application/json"},
            # A proxy of the environment cannot reach this machine's own loopback.
            trust_env=_checked_host(self.url) not in LOOPBACK,
        )

    def submit(
        self,
        text: str,
        *,
        agent: str = "demo",
        metadata: Mapping[str, str] | None = None,
        steps: int | None = None,
        seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> Json:
        """Submit a task, once, however often it has to be sent: the same idempotency key goes with every try."""
        budget = {name: value for name, value in (("steps", steps), ("seconds", seconds)) if value is not None}
        body: Json = {"agent": agent, "text": text}
        body |= {"metadata": dict(metadata)} if metadata else {}
        body |= {"budget": budget} if budget else {}
        headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
        return self._until_answered(lambda: self._send("POST", "/v1/runs", body=body, headers=headers))

    def run(self, run_id: str) -> Json:
        """A run as it stands."""
        return self._send("GET", f"/v1/runs/{_segment(run_id)}")

    def runs(self, *, status: str | None = None, limit: int | None = None, after: str | None = None) -> Json:
        """One page of the account's runs, newest first; `after` is the `next` of the page before."""
        return self._send("GET", "/v1/runs", params={"status": status, "limit": limit, "next": after})

    def all_runs(self, *, status: str | None = None, limit: int | None = None) -> Iterator[Json]:
        """Every run of the account, newest first, read page by page."""
        after = None
        while True:
            page = self.runs(status=status, limit=limit, after=after)
            yield from page["runs"]
            after = page.get("next")
            if after is None:
                return

    def events(self, run_id: str, since: int = -1, *, limit: int | None = None, wait: int = 0) -> Page:
        """The events after the cursor `since`; an empty answer is held back for `wait` seconds."""
        params = {"since": since, "limit": limit, "wait": wait or None}
        return page_of(self._send("GET", f"/v1/runs/{_segment(run_id)}/events", params=params, patience=wait))

    def payload(self, run_id: str, digest: str) -> Any:
        """The field that an event of the run refers to as `{"payload": {"digest": …}}`."""
        return value_of(self._answer("GET", f"/v1/runs/{_segment(run_id)}/payloads/{_segment(digest)}"))

    def cancel(self, run_id: str, reason: str | None = None) -> Json:
        """Cancel a run; a run that has ended stays what it is, and the answer says so."""
        body = {} if reason is None else {"reason": reason}
        return self._send("POST", f"/v1/runs/{_segment(run_id)}/cancel", body=body)

    def delete_run(self, run_id: str) -> Json:
        """Delete a run that has ended, with everything of it. There is no way back."""
        return self._send("DELETE", f"/v1/runs/{_segment(run_id)}")

    def approvals(self, *, limit: int | None = None, after: str | None = None) -> Json:
        """One page of what the account's runs ask people; `after` is the `next` of the page before."""
        return self._send("GET", "/v1/approvals", params={"limit": limit, "next": after})

    def all_approvals(self) -> Iterator[Json]:
        """Everything that the account's runs ask people, read page by page."""
        after = None
        while True:
            page = self.approvals(after=after)
            yield from page["approvals"]
            after = page.get("next")
            if after is None:
                return

    def decide(
        self,
        run_id: str,
        approval_id: str,
        decision: str,
        digest: str,
        *,
        args: Mapping[str, Any] | None = None,
        note: str | None = None,
        grant: bool = False,
    ) -> Json:
        """Answer a question; `digest` says which call was seen. The event that stands.

        The same answer again is no fault, so that it can be sent until one comes back.
        """
        body: Json = {"decision": decision, "digest": digest}
        body |= {} if args is None else {"args": dict(args)}
        body |= {} if note is None else {"note": note}
        body |= {"grant": True} if grant else {}
        path = f"/v1/runs/{_segment(run_id)}/approvals/{_segment(approval_id)}"
        return self._until_answered(lambda: self._send("POST", path, body=body))

    def agents(self) -> Json:
        """The agents that can be asked."""
        return self._send("GET", "/v1/agents")

    def agent(self, name: str, version: int | None = None) -> Json:
        """An agent, whole, in its newest version or that one."""
        return self._send("GET", f"/v1/agents/{_segment(name)}", params={"version": version})

    def put_agent(self, name: str, recipe: Any) -> Json:
        """Define an agent; the answer says which version that is."""
        return self._send("PUT", f"/v1/agents/{_segment(name)}", body=recipe)

    def delete_agent(self, name: str) -> None:
        """Take an agent away from new runs."""
        self._send("DELETE", f"/v1/agents/{_segment(name)}")

    def make_key(self, name: str, scopes: Sequence[str]) -> Json:
        """Make an API key. Its secret stands in this answer and nowhere else, ever."""
        return self._send("POST", "/v1/keys", body={"name": name, "scopes": list(scopes)})

    def keys(self) -> Json:
        """The account's keys, without their secrets."""
        return self._send("GET", "/v1/keys")

    def revoke_key(self, key_id: str) -> Json:
        """Revoke a key."""
        return self._send("DELETE", f"/v1/keys/{_segment(key_id)}")

    def doctor(self, *, repair: bool = False, after: str | None = None) -> Json:
        """One page of what is not as it must be; with `repair` the server does about it what it can."""
        place = {"next": after}
        if repair:
            return self._send("POST", "/v1/admin/doctor/repair", params=place, patience=EXAMINATION)
        return self._send("GET", "/v1/admin/doctor", params=place, patience=EXAMINATION)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _until_answered(self, ask: Callable[[], Json]) -> Json:
        tries = 0
        while True:
            tries += 1
            try:
                return ask()
            except Trouble as trouble:
                delay = self._pace.delay(tries, trouble.retry_after)
                if not trouble.transient or tries == TRIES or delay > LONGEST_WAIT:
                    raise
                self._retrying(trouble, tries)
            self._pace.sleep(delay)

    def _send(self, method: str, path: str, **more: Any) -> Json:
        return body_of(self._answer(method, path, **more))

    def _answer(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Json | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float = 0.0,
    ) -> httpx.Response:
        given = {name: value for name, value in (params or {}).items() if value is not None}
        timeout = httpx.Timeout(self._timeout, read=self._timeout + patience)
        try:
            return self._http.request(method, path, params=given, json=body, headers=headers, timeout=timeout)
        except (httpx.TransportError, httpx.DecodingError) as fault:
            raise Unreachable(self.url, _cause(fault)) from fault


def _cause(fault: httpx.RequestError) -> str:
    """What happened, without the number that the operating system has for it."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(fault)) or type(fault).__name__


def _segment(text: str) -> str:
    return quote(text, safe="")


def _checked_host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise Misconfigured(f"{url!r} is no URL of a server; one looks like http://127.0.0.1:8787")
    return parsed.host


def _checked_key(key: str) -> str:
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Misconfigured("the API key holds characters that no key has")
    return key
