"""API keys in DynamoDB. The secret itself never comes here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Put, Refused, Table, Update
from chalicelib.core.api_key import ApiKey
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoKeyStore:
    """A `KeyStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def add(self, key: ApiKey) -> None:
        """Keep a new key."""
        try:
            self._table.put(Put(items.key_item(key), conditions.NOTHING_STANDS_THERE))
        except Refused:
            # Digests of 256 bits of chance do not meet: this is the key itself, kept by a try whose answer was lost.
            return

    def find(self, digest: str) -> ApiKey | None:
        """The key whose secret has that digest, revoked ones too; read strongly: a revocation counts at once."""
        found = self._table.get(keys.api_key(digest))
        return items.read_key(found) if found else None

    def of_account(self, account_id: str) -> Sequence[ApiKey]:
        """The account's keys, oldest first; read from the index, which lags a moment behind."""
        found = self._table.query_all(_of_account(account_id), index=keys.BY_ACCOUNT)
        return sorted(map(items.read_key, found), key=lambda key: key.created_at)

    def revoke(self, account_id: str, key_id: str, at: datetime) -> ApiKey | None:
        """Revoke the key from `at` on; the first time stands. None if the account has no such key."""
        found = self._table.query(_one_of_account(account_id, key_id), index=keys.BY_ACCOUNT).items
        if not found:
            return None
        revoked = Update(
            {name: found[0][name]["S"] for name in (keys.PK, keys.SK)},
            {"revoked_at": items.moment(at)},
            conditions.IT_IS_NOT_REVOKED,
        )
        try:
            return items.read_key(self._table.update(revoked))
        except Refused as refused:
            return items.read_key(refused.found) if refused.found else None


def _of_account(account_id: str) -> Expression:
    return Expression(
        f"#{keys.ACCOUNT_PK} = :account AND begins_with(#{keys.ACCOUNT_SK}, :kind)",
        {":account": items.text(keys.account(account_id)), ":kind": items.text(keys.KEYS_SK)},
    )


def _one_of_account(account_id: str, key_id: str) -> Expression:
    return Expression(
        f"#{keys.ACCOUNT_PK} = :account AND #{keys.ACCOUNT_SK} = :key",
        {":account": items.text(keys.account(account_id)), ":key": items.text(keys.account_key_sk(key_id))},
    )
