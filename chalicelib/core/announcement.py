"""What is told of a run without being asked: that it ended, and that somebody has to decide something.

Thin: whoever wants more than to know that something happened reads it from the run, with a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.core.events import Event, EventType
from chalicelib.core.run import RunWebhook, Status

STATUS_WITH: Mapping[EventType, Status] = {
    EventType.APPROVAL_REQUESTED: Status.WAITING,
    EventType.RUN_DONE: Status.DONE,
    EventType.RUN_FAILED: Status.FAILED,
    EventType.RUN_CANCELLED: Status.CANCELLED,
}
"""The types that are announced, and what each makes of the run."""

_OF_AN_APPROVAL = {"approval_id": "approval_id", "name": "tool", "expires_at": "expires_at"}


@dataclass(frozen=True, slots=True)
class Announcement:
    """One event, announced. `about` is what of its data is told besides, `own` its run's own webhook."""

    account_id: str
    run_id: str
    seq: int
    type: EventType
    at: datetime
    about: Mapping[str, Any]
    own: RunWebhook | None = None

    @property
    def announcement_id(self) -> str:
        """The same however often the event is announced, on whatever way: by it, a receiver drops what comes twice."""
        return f"{self.run_id}-{self.seq}"

    @property
    def status(self) -> Status:
        return STATUS_WITH[self.type]


def announcement(account_id: str, run_id: str, event: Event, own: RunWebhook | None = None) -> Announcement | None:
    """What is to be told of an event; None for one that only the run's log tells of."""
    if event.type not in STATUS_WITH:
        return None
    about: Mapping[str, Any] = {}
    if event.type is EventType.APPROVAL_REQUESTED:
        about = {told: event.data[name] for name, told in _OF_AN_APPROVAL.items()}
    return Announcement(account_id, run_id, event.seq, event.type, event.at, about, own)


def detail(told: Announcement) -> Mapping[str, Any]:
    """The thin payload, the same on every way out."""
    return {
        "account_id": told.account_id,
        "run_id": told.run_id,
        "seq": told.seq,
        "type": told.type,
        "at": _iso(told.at),
        "status": told.status,
        **told.about,
    }


def read_detail(payload: Mapping[str, Any]) -> Announcement:
    """The announcement that `detail` made that of; where it is to go is not in it."""
    about = {name: payload[name] for name in _OF_AN_APPROVAL.values() if name in payload}
    return Announcement(
        payload["account_id"],
        payload["run_id"],
        payload["seq"],
        EventType(payload["type"]),
        datetime.fromisoformat(payload["at"]),
        about,
    )


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
