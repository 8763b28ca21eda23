"""Take an API key out of use."""

from __future__ import annotations

from chalicelib.core.api_key import ApiKey, is_key_id
from chalicelib.core.errors import NotFound
from chalicelib.ports.clock import Clock
from chalicelib.ports.key_store import KeyStore


def revoke_key(key_id: str, *, account_id: str, keys: KeyStore, clock: Clock) -> ApiKey:
    """Revoke the key from now on; a second time changes nothing. Raises `NotFound`."""
    key = keys.revoke(account_id, key_id, clock.now()) if is_key_id(key_id) else None
    if key is None:
        raise NotFound("key_not_found", "this account has no key of that id")
    return key
