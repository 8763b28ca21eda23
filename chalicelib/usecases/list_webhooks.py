"""The webhooks of an account."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.webhook import Webhook
from chalicelib.ports.webhook_store import WebhookStore


def list_webhooks(*, account_id: str, webhooks: WebhookStore) -> Sequence[Webhook]:
    """By name."""
    return webhooks.of_account(account_id)
