"""HTTP that goes only where it may, over a line that was judged.

No pool, no cookies, no proxy of the environment, and redirects by hand, each judged like a first request.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from http.client import HTTPException

from urllib3.exceptions import DecodeError, HTTPError
from urllib3.response import HTTPResponse

from chalicelib.adapters.net import dialling
from chalicelib.adapters.net.deadline import Deadline
from chalicelib.adapters.net.pinned_line import PinnedLine
from chalicelib.core.egress import CREDENTIALS, EgressPolicy, Target
from chalicelib.core.errors import EgressFailed
from chalicelib.ports.web import WebAnswer, WebRequest

MAX_BODY = 2 * 1024 * 1024
"""Bytes, counted after decompression."""

PIECE = 16_384
REDIRECTS = frozenset({301, 302, 303, 307, 308})
ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})


class PinnedWeb:
    """A `Web`. A `dial` of their own lets tests put servers behind public addresses; the judge is never theirs."""

    def __init__(self, *, resolve: dialling.Resolve = dialling.resolve, dial: dialling.Dial = dialling.dial) -> None:
        self._line = PinnedLine(resolve=resolve, dial=dial)

    def ask(self, request: WebRequest, policy: EgressPolicy) -> WebAnswer:
        """Whatever the place answers, of any status. Raises `EgressRefused` or `EgressFailed`."""
        with Deadline(request.seconds) as deadline:
            try:
                return self._follow(request, policy, deadline)
            except DecodeError as fault:
                raise EgressFailed("body_not_readable", "the body is not encoded as it says") from fault
            except (HTTPError, HTTPException, OSError) as fault:
                raise _failure(fault, deadline) from fault

    def _follow(self, request: WebRequest, policy: EgressPolicy, deadline: Deadline) -> WebAnswer:
        target, headers = Target.parse(request.url), dict(request.headers)
        for _ in range(request.redirects + 1):
            answer, location = self._exchange(request, target, headers, policy, deadline)
            if location is None or not request.redirects:
                return answer
            there = target.redirected(location)
            if there.origin != target.origin:
                headers = {name: value for name, value in headers.items() if name.lower() not in CREDENTIALS}
            target = there
        raise EgressFailed("too_many_redirects", f"more than {request.redirects} redirects")

    def _exchange(
        self, request: WebRequest, target: Target, headers: Mapping[str, str], policy: EgressPolicy, deadline: Deadline
    ) -> tuple[WebAnswer, str | None]:
        own = {"Host": target.authority, "Accept-Encoding": "gzip, deflate", "Connection": "close"}
        with self._line.opened(target, policy, deadline) as connection:
            connection.request(request.method, target.path, request.body, {**headers, **own}, preload_content=False)
            with closing(connection.getresponse()) as response:
                location = _location(response)
                # Nobody reads the body of an answer that is passed over.
                body, cut = (b"", False) if location and request.redirects else _body(response)
        if deadline.expired:
            # A body without a length, shut in its middle, looks like a whole one.
            raise TimeoutError
        named = {name.lower(): value for name, value in response.headers.items()}
        return WebAnswer(target.url, response.status, named, body, cut), location


def _location(response: HTTPResponse) -> str | None:
    """Where the answer sends on to, if it does. Bytes beyond ASCII are meant as UTF-8, and read as Latin-1."""
    location = response.headers.get("location") if response.status in REDIRECTS else None
    return location and location.encode("latin-1").decode(errors="replace")


def _body(response: HTTPResponse) -> tuple[bytes, bool]:
    """At most `MAX_BODY` bytes of it, and whether there are more."""
    if response.headers.get("content-encoding", "").strip().lower() not in ENCODINGS:
        raise EgressFailed("body_not_readable", "the body is encoded in a way that was not asked for")
    body = bytearray()
    for piece in response.stream(PIECE, decode_content=True):
        body += piece
        if len(body) > MAX_BODY:
            return bytes(body[:MAX_BODY]), True
    return bytes(body), False


def _failure(fault: Exception, deadline: Deadline) -> EgressFailed:
    if deadline.expired or isinstance(fault, TimeoutError):
        return EgressFailed("no_answer_in_time", "there was no whole answer in time")
    return EgressFailed("no_answer", f"there was no whole answer ({type(fault).__name__})")
