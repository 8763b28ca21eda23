"""Whose API key a secret is."""

from __future__ import annotations

from chalicelib.core import api_key
from chalicelib.core.api_key import ApiKey
from chalicelib.core.errors import Unauthenticated
from chalicelib.ports.key_store import KeyStore


def identify(secret: str, *, keys: KeyStore) -> ApiKey:
    """The key of that secret, if it still counts. Raises `Unauthenticated`."""
    key = keys.find(api_key.digest(secret))
    if key is None:
        raise Unauthenticated("unauthenticated", "nobody has this API key")
    if key.revoked_at is not None:
        raise Unauthenticated("key_revoked", "this API key was revoked")
    return key
