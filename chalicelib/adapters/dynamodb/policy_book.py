"""Policies in DynamoDB: one item an account, replaced on the condition of its version."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.conditions import NOTHING_STANDS_THERE, Expression
from chalicelib.adapters.dynamodb.table import Put, Refused, Table
from chalicelib.core.permissions import of_data, to_data
from chalicelib.core.policy import Policy
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Item


class DynamoPolicyBook:
    """A `PolicyBook`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def policy(self, account_id: str) -> Policy:
        item = self._table.get(keys.policy(account_id))
        return _read(item) if item else Policy()

    def replace(self, account_id: str, policy: Policy) -> Policy:
        try:
            self._table.put(Put(_item(account_id, policy), _version_is(policy.version - 1)))
        except Refused as refused:
            # Somebody else's, or this very one, kept by a try whose answer was lost: the caller tells by the value.
            return _read(refused.found) if refused.found else Policy()
        return policy


def _version_is(version: int) -> Expression:
    return Expression("#version = :was", {":was": items.number(version)}) if version else NOTHING_STANDS_THERE


def _item(account_id: str, policy: Policy) -> Item:
    assert policy.set_at is not None, "a policy is set at some time"
    assert policy.set_by is not None, "a policy is set by somebody"
    return items.key(keys.policy(account_id)) | {
        "version": items.number(policy.version),
        "rules": items.text(json.dumps(to_data(policy.rules), ensure_ascii=False)),
        "set_at": items.moment(policy.set_at),
        "set_by": items.text(policy.set_by),
    }


def _read(item: Item) -> Policy:
    rules = of_data(json.loads(item["rules"]["S"]))
    return Policy(int(item["version"]["N"]), rules, items.read_moment(item["set_at"]), item["set_by"]["S"])
