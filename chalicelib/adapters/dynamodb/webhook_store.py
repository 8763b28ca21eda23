"""Webhooks in DynamoDB. Their signing secrets lie in the table as they are: whoever sends must be able to sign."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Put, Refused, Table, Update
from chalicelib.core.events import EventType
from chalicelib.core.webhook import Webhook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Attribute, Item


class DynamoWebhookStore:
    """A `WebhookStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def add(self, webhook: Webhook) -> bool:
        try:
            self._table.put(Put(_item(webhook), conditions.NOTHING_STANDS_THERE))
        except Refused as refused:
            # This very one, kept by a try whose answer was lost: no other has the secret.
            return refused.found is not None and refused.found["secret"]["S"] == webhook.secret
        return True

    def change(self, account_id: str, name: str, url: str, events: frozenset[EventType]) -> Webhook | None:
        changed: dict[str, Attribute | None] = {"url": items.text(url), "events": _events(events), "disabled_at": None}
        return self._update(account_id, name, changed, conditions.SOMETHING_STANDS_THERE)

    def rotate(self, webhook: Webhook, secret: str, old_until: datetime) -> Webhook | None:
        rotated: dict[str, Attribute | None] = {
            "secret": items.text(secret),
            "old_secret": items.text(webhook.secret),
            "old_secret_until": items.moment(old_until),
        }
        condition = conditions.it_signs_with(webhook.secret)
        try:
            return _read(self._table.update(Update(_key(webhook), rotated, condition)))
        except Refused as refused:
            ours = refused.found is not None and refused.found["secret"]["S"] == secret
            return _read(refused.found) if ours and refused.found else None

    def disable(self, webhook: Webhook, at: datetime) -> None:
        disabled: dict[str, Attribute | None] = {"disabled_at": items.moment(at)}
        self._update(webhook.account_id, webhook.name, disabled, conditions.it_goes_to(webhook.url))

    def find(self, account_id: str, name: str) -> Webhook | None:
        found = self._table.get(keys.webhook(account_id, name))
        return _read(found) if found else None

    def of_account(self, account_id: str) -> Sequence[Webhook]:
        condition = Expression(f"#{keys.PK} = :account", {":account": items.text(keys.webhooks(account_id))})
        return [_read(item) for item in self._table.query_all(condition, strong=True)]

    def delete(self, account_id: str, name: str) -> None:
        self._table.delete(keys.webhook(account_id, name))

    def _update(
        self, account_id: str, name: str, attributes: dict[str, Attribute | None], condition: Expression
    ) -> Webhook | None:
        try:
            return _read(self._table.update(Update(keys.webhook(account_id, name), attributes, condition)))
        except Refused:
            return None


def _key(webhook: Webhook) -> dict[str, str]:
    return keys.webhook(webhook.account_id, webhook.name)


def _events(events: frozenset[EventType]) -> Attribute:
    return {"L": [items.text(type) for type in sorted(events)]}


def _item(webhook: Webhook) -> Item:
    return items.key(_key(webhook)) | {
        "account_id": items.text(webhook.account_id),
        "url": items.text(webhook.url),
        "events": _events(webhook.events),
        "secret": items.text(webhook.secret),
        "created_at": items.moment(webhook.created_at),
    }


def _read(item: Item) -> Webhook:
    def moment(name: str) -> datetime | None:
        return items.read_moment(item[name]) if name in item else None

    return Webhook(
        account_id=items.account_of(item),
        name=keys.webhook_name_of(item[keys.SK]["S"]),
        url=item["url"]["S"],
        events=frozenset(EventType(each["S"]) for each in item["events"]["L"]),
        secret=item["secret"]["S"],
        created_at=items.read_moment(item["created_at"]),
        old_secret=item["old_secret"]["S"] if "old_secret" in item else None,
        old_secret_until=moment("old_secret_until"),
        disabled_at=moment("disabled_at"),
    )
