"""A ticket for whoever can send no key."""

from __future__ import annotations

from chalicelib.core import ticket
from chalicelib.core.api_key import Scope
from chalicelib.core.ticket import Ticket
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.usecases.read_run import read_run


def make_ticket(
    run_id: str | None,
    *,
    account_id: str,
    key_id: str,
    scopes: frozenset[Scope],
    secret: bytes,
    runs: RunStore,
    clock: Clock,
) -> tuple[str, Ticket]:
    """A ticket of the key's, for one run or for all; as it is sent, and what it says. Raises `NotFound`."""
    if run_id is not None:
        read_run(run_id, account_id=account_id, runs=runs)
    expires_at = clock.now().replace(microsecond=0) + ticket.COUNTS_FOR
    made = Ticket(account_id, key_id, scopes & ticket.GOES_ALONG, run_id, expires_at)
    return ticket.sign(made, secret), made
