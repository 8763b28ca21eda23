"""An account's API keys."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.api_key import ApiKey
from chalicelib.ports.key_store import KeyStore


def list_keys(*, account_id: str, keys: KeyStore) -> Sequence[ApiKey]:
    """The account's keys, revoked ones too, oldest first."""
    return keys.of_account(account_id)
