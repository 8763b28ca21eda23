"""Forget a webhook. What is still on its way to it is dropped."""

from __future__ import annotations

from chalicelib.ports.webhook_store import WebhookStore
from chalicelib.usecases.read_webhook import read_webhook


def delete_webhook(name: str, *, account_id: str, webhooks: WebhookStore) -> None:
    """Raises `NotFound`."""
    read_webhook(name, account_id=account_id, webhooks=webhooks)
    webhooks.delete(account_id, name)
