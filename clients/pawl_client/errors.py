"""Everything that can go wrong on this side of the wire, drawn as a tree. Whether another try helps decides the branch.

Trouble
├── Misconfigured   the URL or the key, before anything was sent
├── Unreachable     no whole answer came: refused, reset, timed out, cut off (transient)
├── PawlError       the server answered with a problem (transient if it is the server's: 429, 5xx)
├── NotAsked        the run asks nothing by that id
└── LogBroken       the server keeps leaving out an event
"""

from __future__ import annotations

from http import HTTPStatus


class Trouble(Exception):  # noqa: N818 - the root of a tree, not all of which are errors
    """The root. `transient`: the same may succeed later, `retry_after` seconds from now if the server said so."""

    transient = False
    retry_after: float | None = None


class Misconfigured(Trouble):
    """Where to connect or with which key is not known."""


class Unreachable(Trouble):
    """No whole answer came. What was asked for may have happened."""

    transient = True

    def __init__(self, url: str, cause: str) -> None:
        super().__init__(f"no answer from {url}: {cause}")
        self.cause = cause


class PawlError(Trouble):
    """A problem body. `code` is stable; `field` is the part at fault, `expected` what may stand there."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        field: str | None = None,
        expected: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.expected = expected
        self.request_id = request_id
        self.retry_after = retry_after
        self.transient = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR

    def __str__(self) -> str:
        told = (("field", self.field), ("expected", self.expected))
        hints = ", ".join(f"{name} {value}" for name, value in told if value)
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.detail}{f' ({hints})' if hints else ''} [{self.code}, HTTP {self.status}{request}]"


class NotAsked(Trouble):
    """There is no such question in the run's log."""

    def __init__(self, run_id: str, approval_id: str) -> None:
        super().__init__(f"{run_id} asks nothing by the id {approval_id}; what is asked: pawl approvals")


class LogBroken(Trouble):
    """An event is missing, and reading again did not bring it."""

    def __init__(self, run_id: str, seq: int) -> None:
        super().__init__(f"the log of {run_id} has a hole: event {seq} does not come")
        self.seq = seq
