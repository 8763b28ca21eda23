"""HTTP to an MCP server: one exchange at a time, over a line that was judged, read as it comes and up to a bound."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException

from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from chalicelib.adapters.net.deadline import Deadline
from chalicelib.adapters.net.pinned_line import PinnedLine
from chalicelib.core.egress import LOOPBACK_HOSTS, EgressPolicy, Target, any_public_name
from chalicelib.core.errors import EgressRefused
from chalicelib.core.tools import Stop

MAX_ANSWER = 2 * 1024 * 1024
"""Bytes of one answer."""

PIECE = 16_384
SECONDS_BETWEEN_LOOKS = 0.2
"""At a call's stop: how late at most a cancelled call hangs up."""


class NotSent(Exception):  # noqa: N818 - named by what happened
    """The server was not asked at all; the text says why."""


class NoAnswer(Exception):  # noqa: N818 - named by what happened
    """The server may have been asked, and nobody knows what it made of that; the text says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Names of headers are in lower case. The body is still to come; it raises `NoAnswer` where it is too long."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class McpLine:
    """To one URL. https and a public name on the web's ports; `loopback` lets one's own machine in, also by http."""

    def __init__(self, url: str, *, loopback: bool = False, line: PinnedLine | None = None) -> None:
        self._url = url
        self._policy = EgressPolicy(any_public_name, loopback=loopback)
        self._line = line or PinnedLine()

    @contextmanager
    def exchange(
        self, method: str, headers: Mapping[str, str], body: bytes | None, seconds: float, stop: Stop | None
    ) -> Iterator[Answer]:
        """`seconds` bounds the whole of it; `stop` ends it early. Raises `NotSent` or `NoAnswer`."""
        sent = False
        with Deadline(seconds) as deadline, _heeding(stop, deadline):
            try:
                target = self._target()
                with self._line.opened(target, self._policy, deadline) as connection:
                    own = {"Host": target.authority, "Accept-Encoding": "identity", "Connection": "close"}
                    sent = True
                    # A server may answer, say 413, and hang up before it has read all: its answer counts.
                    with suppress(BrokenPipeError, ConnectionResetError):
                        connection.request(method, target.path, body, {**headers, **own}, preload_content=False)
                    with closing(connection.getresponse()) as response:
                        yield _answer(response, deadline)
            except EgressRefused as refused:
                raise NotSent(f"its address may not be reached: {refused.detail}") from refused
            except (HTTPError, HTTPException, OSError) as fault:
                raise (NoAnswer if sent else NotSent)(_reason(fault, deadline)) from fault

    def _target(self) -> Target:
        target = Target.parse(self._url)
        if target.scheme != "https" and not (self._policy.loopback and target.host in LOOPBACK_HOSTS):
            raise EgressRefused("scheme_not_allowed", "only https is spoken")
        return target


def _answer(response: HTTPResponse, deadline: Deadline) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise NoAnswer("its answer is encoded in a way that was not asked for")
    return Answer(response.status, headers, _pieces(response, deadline))


def _pieces(response: HTTPResponse, deadline: Deadline) -> Iterator[bytes]:
    size = 0
    while piece := response.read1(PIECE, decode_content=False):
        size += len(piece)
        if size > MAX_ANSWER:
            raise NoAnswer(f"its answer is longer than {MAX_ANSWER} bytes")
        yield piece
    if deadline.expired:
        # A body without a length, shut in its middle, looks like a whole one.
        raise TimeoutError


def _reason(fault: Exception, deadline: Deadline) -> str:
    if deadline.expired or isinstance(fault, TimeoutError):
        return "there was no whole answer in time"
    return f"the connection failed ({type(fault).__name__})"


@contextmanager
def _heeding(stop: Stop | None, deadline: Deadline) -> Iterator[None]:
    over = threading.Event()

    def look() -> None:
        while stop is not None and not over.wait(SECONDS_BETWEEN_LOOKS):
            if stop.is_set():
                deadline.end()
                return

    if stop is not None:
        threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        over.set()
