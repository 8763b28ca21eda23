"""Tickets: a key's authority for a few minutes, for clients that can send a URL and no header.

A ticket is signed, not stored: a key that is revoked leaves its tickets good for what is left of their minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Forbidden, Unauthenticated

VERSION = "pawlt1"
"""The form of what follows, and what secret scanners know a ticket by."""

COUNTS_FOR = timedelta(minutes=5)
GOES_ALONG = frozenset({Scope.READ, Scope.RUN})
"""What of a key's scopes a ticket can carry: to watch, and to cancel."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Whose authority it is, until when, and for which run; None: for every run of the account."""

    account_id: str
    key_id: str
    scopes: frozenset[Scope]
    run_id: str | None
    expires_at: datetime


def sign(ticket: Ticket, secret: bytes) -> str:
    """The ticket as it is sent: version, content and signature, nothing that a URL would have to escape."""
    content = {
        "account": ticket.account_id,
        "key": ticket.key_id,
        "scopes": sorted(ticket.scopes),
        "run": ticket.run_id,
        "expires": int(ticket.expires_at.timestamp()),
    }
    signed = f"{VERSION}.{_spelled(json.dumps(content, separators=(',', ':')).encode())}"
    return f"{signed}.{_signature(signed, secret)}"


def verify(text: str, secret: bytes, now: datetime) -> Ticket:
    """The ticket that was sent. Raises `Unauthenticated` if it was not signed with the secret, or has expired."""
    signed, _, signature = text.rpartition(".")
    # As text: what would decode to the same bytes is another text all the same.
    if not hmac.compare_digest(signature.encode(), _signature(signed, secret).encode()):
        raise Unauthenticated("ticket_invalid", "this is no ticket of this server")
    ticket = _read(signed)
    if now >= ticket.expires_at:
        raise Unauthenticated("ticket_expired", "this ticket has expired; get another one and go on from your cursor")
    return ticket


def permit(ticket_run_id: str | None, run_id: str) -> None:
    """Raises `Forbidden` if a ticket for that run is used for this one."""
    if ticket_run_id is not None and ticket_run_id != run_id:
        raise Forbidden("ticket_for_another_run", "this ticket is for another run", field="run_id")


def _read(signed: str) -> Ticket:
    _, _, spelled = signed.partition(".")
    content = json.loads(base64.urlsafe_b64decode(spelled + "=" * (-len(spelled) % 4)))
    return Ticket(
        account_id=content["account"],
        key_id=content["key"],
        scopes=frozenset(map(Scope, content["scopes"])),
        run_id=content["run"],
        expires_at=datetime.fromtimestamp(content["expires"], UTC),
    )


def _signature(signed: str, secret: bytes) -> str:
    return _spelled(hmac.new(secret, signed.encode(), hashlib.sha256).digest())


def _spelled(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
