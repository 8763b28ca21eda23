"""API keys, by the hash of their secret."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.core.api_key import ApiKey


class KeyStore(Protocol):
    def add(self, key: ApiKey) -> None:
        """Keep a new key."""

    def find(self, digest: str) -> ApiKey | None:
        """The key whose secret has that digest, revoked ones too."""

    def of_account(self, account_id: str) -> Sequence[ApiKey]:
        """The account's keys, oldest first."""

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Revoke the key from `at` on; the first time stands. None if the account has no such key."""
