"""Webhooks, with their signing secrets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from chalicelib.core.events import EventType
from chalicelib.core.webhook import Webhook


class WebhookStore(Protocol):
    def add(self, webhook: Webhook) -> bool:
        """Keep a new webhook; False if the account has one of that name already, which stays as it is."""

    def change(self, account_id: str, name: str, url: str, events: frozenset[EventType]) -> Webhook | None:
        """Give it another URL and other events, and enable it; its secrets stay. None if there is no such webhook."""

    def rotate(self, webhook: Webhook, secret: str, old_until: datetime) -> Webhook | None:
        """Give it another secret; the one that was read signs along until then. None if that is its secret no more."""

    def disable(self, webhook: Webhook, at: datetime) -> None:
        """Note that its receiver is gone, unless it has another URL by now. The first time stands."""

    def find(self, account_id: str, name: str) -> Webhook | None:
        """The webhook, read strongly."""

    def of_account(self, account_id: str) -> Sequence[Webhook]:
        """The account's webhooks, by name, read strongly."""

    def delete(self, account_id: str, name: str) -> None:
        """Forget it, if it is there."""
