"""Webhooks: whom an account wants to have told, how what they get is signed, and when it is tried again.

The headers and the signature are those of Standard Webhooks, so that receivers find a library that verifies them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.core import announcement
from chalicelib.core.announcement import STATUS_WITH, Announcement
from chalicelib.core.egress import EgressPolicy, Target
from chalicelib.core.errors import EgressRefused, InvalidInput
from chalicelib.core.events import EventType

MAX_WEBHOOKS = 20
"""Of an account."""

OLD_SECRET_SIGNS = timedelta(hours=24)
"""How long the secret before the last rotation signs along."""

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32

TIMEOUT = 15.0
"""Seconds that a receiver has for its whole answer."""

GONE = 410

BACK_OFF = (5, 300, 1_800, 7_200, 18_000, 36_000, 39_600, 39_600, 39_600)
"""Seconds between one try and the next: the schedule that Standard Webhooks proposes, but for its longest pauses, since
SQS hides a message for twelve hours at most."""

TRIES = len(BACK_OFF) + 1

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class Webhook:
    """A receiver of an account. `secret` signs; until `old_secret_until` so does the one before it.

    A receiver that answered that it is gone is `disabled_at`, until it is put again.
    """

    account_id: str
    name: str
    url: str
    events: frozenset[EventType]
    secret: str
    created_at: datetime
    old_secret: str | None = None
    old_secret_until: datetime | None = None
    disabled_at: datetime | None = None

    def wants(self, type: EventType) -> bool:
        """Whether it is to be told of such an event."""
        return self.disabled_at is None and type in self.events

    def secrets(self, now: datetime) -> tuple[str, ...]:
        """Those that sign now, the newest first."""
        if self.old_secret is None or self.old_secret_until is None or self.old_secret_until <= now:
            return (self.secret,)
        return self.secret, self.old_secret


def secret(chance: bytes) -> str:
    """A signing secret, in the form in which verifying libraries take it."""
    return SECRET_PREFIX + base64.b64encode(chance).decode()


def is_name(text: str) -> bool:
    """Whether a webhook could have that name."""
    return _NAME.fullmatch(text) is not None


def check_name(name: str) -> None:
    """Raises `InvalidInput`."""
    if not is_name(name):
        expected = "1 to 63 of a-z, 0-9, - and _, the first a letter or a digit"
        raise InvalidInput("invalid_webhook_name", "this can't be a webhook's name", field="name", expected=expected)


def check_url(url: str, policy: EgressPolicy, *, field: str = "url") -> str:
    """The URL in its one spelling. Raises `InvalidInput` for one that would never be asked."""
    try:
        target = Target.parse(url)
        policy.admit(target)
    except EgressRefused as refused:
        raise _invalid_url(refused.detail, policy, field) from refused
    if target.scheme != "https" and not policy.at_home(target):
        raise _invalid_url("what is told must not be read on its way", policy, field)
    return target.url


def _invalid_url(detail: str, policy: EgressPolicy, field: str) -> InvalidInput:
    expected = "an https URL of a public name, on port 443 or 80" + (", or one of this machine" * policy.loopback)
    return InvalidInput("invalid_webhook_url", detail, field=field, expected=expected)


def events(names: Sequence[object] | None) -> frozenset[EventType]:
    """The types of events that are named; all that are announced if none is. Raises `InvalidInput`."""
    if names is None:
        return frozenset(STATUS_WITH)
    known = {str(type): type for type in STATUS_WITH}
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown or not names:
        detail = f"{unknown[0]!r:.80} is not announced" if unknown else "a webhook without events is told nothing"
        raise InvalidInput("invalid_webhook_events", detail, field="events", expected=f"any of: {', '.join(known)}")
    return frozenset(known[str(name)] for name in names)


def payload(told: Announcement) -> bytes:
    """The body, byte for byte the same at every try."""
    thin = announcement.detail(told)
    body = {"type": thin["type"], "timestamp": thin["at"], "data": thin}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()


def headers(told: Announcement, body: bytes, secrets: Sequence[str], now: datetime) -> Mapping[str, str]:
    """Who tells what when, signed by each of the secrets; the time is that of this try."""
    stamp = str(int(now.timestamp()))
    signed = b".".join((told.announcement_id.encode(), stamp.encode(), body))
    return {
        "content-type": "application/json",
        "user-agent": "Pawl",
        "webhook-id": told.announcement_id,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def pause_after(tries: int) -> int:
    """Seconds until the next try, after so many; 0 after the last: nobody waits for what only becomes a dead letter."""
    return BACK_OFF[tries - 1] if tries < TRIES else 0
