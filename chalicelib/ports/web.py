"""The internet, one request at a time, under a policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from chalicelib.core.egress import EgressPolicy


@dataclass(frozen=True, slots=True)
class WebRequest:
    """`seconds` bounds the whole of it, redirects too, of which at most `redirects` are followed."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    seconds: float = 20.0
    redirects: int = 0


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """`url` is where it came from in the end. Names of headers are in lower case; the body is decoded.

    `cut`: there was more of the body than is kept.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


class Web(Protocol):
    def ask(self, request: WebRequest, policy: EgressPolicy) -> WebAnswer:
        """Whatever the place answers, of any status. Raises `EgressRefused` or `EgressFailed`."""
