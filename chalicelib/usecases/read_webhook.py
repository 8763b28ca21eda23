"""One webhook of an account."""

from __future__ import annotations

from chalicelib.core.errors import NotFound
from chalicelib.core.webhook import Webhook, is_name
from chalicelib.ports.webhook_store import WebhookStore


def read_webhook(name: str, *, account_id: str, webhooks: WebhookStore) -> Webhook:
    """Raises `NotFound`, for another account's webhook too."""
    found = webhooks.find(account_id, name) if is_name(name) else None
    if found is None:
        raise NotFound("webhook_not_found", "there is no such webhook", field="name")
    return found
