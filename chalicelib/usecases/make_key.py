"""A new API key."""

from __future__ import annotations

from chalicelib.core import api_key
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.key_store import KeyStore


def make_key(
    name: str, scopes: frozenset[Scope], *, account_id: str, keys: KeyStore, clock: Clock, chance: Chance
) -> tuple[ApiKey, str]:
    """Keep a new key of the account; the key, and its secret, which is told only now. Raises `InvalidInput`."""
    api_key.check(name, scopes)
    secret = api_key.secret(chance.bytes(32))
    key = ApiKey(
        key_id=api_key.key_id(chance.bytes(8)),
        digest=api_key.digest(secret),
        account_id=account_id,
        name=name,
        scopes=scopes,
        created_at=clock.now(),
    )
    keys.add(key)
    return key, secret
