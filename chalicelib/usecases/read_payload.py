"""The part of an event that is too large for its log."""

from __future__ import annotations

from chalicelib.core.account import owned
from chalicelib.core.errors import NotFound
from chalicelib.ports.run_store import RunStore


def read_payload(run_id: str, digest: str, *, account_id: str, runs: RunStore) -> bytes:
    """The JSON that an event of the run refers to by its digest. Raises `NotFound`."""
    owned(runs.look_up(run_id), account_id)
    payload = runs.payload(run_id, digest)
    if payload is None:
        raise NotFound("payload_not_found", "this run has no payload of that digest, or has none any more")
    return payload
