"""Who watches by a socket, and how far each has been told.

A connection lives by the ticket that opened it: when that expires, nothing is sent to it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Conflict
from chalicelib.core.ticket import Ticket

MOST_RUNS = 20
"""What one socket may watch at a time: each of them is read at each of its pings."""


@dataclass(frozen=True, slots=True)
class Connection:
    """An open socket and its authority. `run_id`: the only run it may watch; None: every run of the account."""

    connection_id: str
    account_id: str
    key_id: str
    scopes: frozenset[Scope]
    run_id: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Watch:
    """One run on one socket. `sent` is the cursor: every event up to it was posted. `in_full`: never a snapshot."""

    connection_id: str
    run_id: str
    account_id: str
    sent: int
    in_full: bool
    expires_at: datetime


def opened(connection_id: str, ticket: Ticket) -> Connection:
    """The connection that a ticket opens."""
    return Connection(connection_id, ticket.account_id, ticket.key_id, ticket.scopes, ticket.run_id, ticket.expires_at)


def counts(what: Connection | Watch, now: datetime) -> bool:
    """Whether its ticket still counts. Its item may be there for long after that: DynamoDB deletes when it likes."""
    return now < what.expires_at


def make_room(run_ids: frozenset[str], run_id: str) -> None:
    """Raises `Conflict` if a socket that watches these runs can't take in another one."""
    if run_id not in run_ids and len(run_ids) >= MOST_RUNS:
        expected = f"at most {MOST_RUNS} runs on one socket"
        raise Conflict("too_many_watches", "this socket watches as many runs as it may", expected=expected)
