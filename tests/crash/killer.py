"""A boto3 client that dies at its n-th call, and says how many calls there were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botocore.exceptions import ConnectionClosedError


class Killed(BaseException):
    """The process is gone. Not an `Exception`: nothing in a killed process handles it."""


class Moment(StrEnum):
    """Where in a call the worker dies, or loses the answer and lives."""

    BEFORE = "before the call"
    AFTER = "after it took effect, before the answer"
    LOST = "answer lost, and the call made again"


@dataclass
class Killer:
    """Counts the calls of every client that it `arms`, and strikes once, at call number `at` (counted from one)."""

    at: int = 0
    moment: Moment = Moment.BEFORE
    each_call: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)
    struck: bool = False

    def arm(self, client: Any) -> Any:
        return _Armed(client, self)

    def call(self, name: str, method: Callable[..., Any], request: dict[str, Any]) -> Any:
        self.each_call()
        self.calls.append(name)
        if self.struck or len(self.calls) != self.at:
            return method(**request)
        self.struck = True
        if self.moment is Moment.BEFORE:
            raise Killed
        method(**request)
        if self.moment is Moment.AFTER:
            raise Killed
        raise ConnectionClosedError(endpoint_url="https://dynamodb")


class _Armed:
    def __init__(self, client: Any, killer: Killer) -> None:
        self._client = client
        self._killer = killer

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda **request: self._killer.call(name, method, request)
