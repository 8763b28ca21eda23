"""What is still to be sent to webhooks. What is put here is given out at least once, and again if nobody settles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chalicelib.core.announcement import Announcement


@dataclass(frozen=True, slots=True)
class Sending:
    """An announcement on its way to the account's webhook of that name, or to a run's own `url` under its secret."""

    announcement: Announcement
    webhook: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A sending as the queue gives it out, for the `tries`-th time, and what it goes by there."""

    sending: Sending
    tries: int
    message_id: str
    receipt: str


class WebhookQueue(Protocol):
    def put(self, sendings: Sequence[Sending]) -> None:
        """Put them in. Raises `Unavailable` if one of them may not have got there."""

    def taken(self, record: Mapping[str, Any]) -> Taken:
        """What a record of the queue's Lambda event gives out."""

    def put_off(self, taken: Taken, seconds: int) -> None:
        """Give it out again in so many seconds. Raises `Unavailable`."""
