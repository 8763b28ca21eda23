"""Webhooks, their queue and the bus, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from chalicelib.core.announcement import Announcement
from chalicelib.core.events import EventType
from chalicelib.core.webhook import Webhook
from chalicelib.ports.webhook_queue import Sending, Taken


class Hooks:
    """A `WebhookStore`."""

    def __init__(self, *hooks: Webhook) -> None:
        self._hooks = {(hook.account_id, hook.name): hook for hook in hooks}
        self.reads = 0

    def add(self, webhook: Webhook) -> bool:
        return self._hooks.setdefault((webhook.account_id, webhook.name), webhook) is webhook

    def change(self, account_id: str, name: str, url: str, events: frozenset[EventType]) -> Webhook | None:
        return self._replace((account_id, name), url=url, events=events, disabled_at=None)

    def rotate(self, webhook: Webhook, secret: str, old_until: datetime) -> Webhook | None:
        key = (webhook.account_id, webhook.name)
        return self._replace(key, secret=secret, old_secret=webhook.secret, old_secret_until=old_until)

    def disable(self, webhook: Webhook, at: datetime) -> None:
        self._replace((webhook.account_id, webhook.name), disabled_at=at)

    def find(self, account_id: str, name: str) -> Webhook | None:
        return self._hooks.get((account_id, name))

    def of_account(self, account_id: str) -> Sequence[Webhook]:
        self.reads += 1
        return [hook for hook in self._hooks.values() if hook.account_id == account_id]

    def delete(self, account_id: str, name: str) -> None:
        self._hooks.pop((account_id, name), None)

    def _replace(self, key: tuple[str, str], **fields: Any) -> Webhook | None:
        if key in self._hooks:
            self._hooks[key] = replace(self._hooks[key], **fields)
        return self._hooks.get(key)


@dataclass
class Queue:
    """A `WebhookQueue` that gives nothing out."""

    put_in: list[Sending] = field(default_factory=list)
    put_off_by: list[int] = field(default_factory=list)

    def put(self, sendings: Sequence[Sending]) -> None:
        self.put_in += sendings

    def taken(self, record: Mapping[str, Any]) -> Taken:
        raise NotImplementedError

    def put_off(self, taken: Taken, seconds: int) -> None:
        self.put_off_by.append(seconds)


@dataclass
class Announced:
    """An `Announcer`."""

    told: list[Announcement] = field(default_factory=list)

    def announce(self, told: Sequence[Announcement]) -> None:
        self.told += told
