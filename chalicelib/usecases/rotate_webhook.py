"""Give a webhook another secret, while receivers still know the old one."""

from __future__ import annotations

from chalicelib.core import webhook
from chalicelib.core.errors import Conflict
from chalicelib.core.webhook import Webhook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.webhook_store import WebhookStore
from chalicelib.usecases.read_webhook import read_webhook


def rotate_webhook(name: str, *, account_id: str, webhooks: WebhookStore, clock: Clock, chance: Chance) -> Webhook:
    """The webhook with its new secret; the one before signs along for a day. Raises `NotFound` and `Conflict`."""
    found = read_webhook(name, account_id=account_id, webhooks=webhooks)
    secret = webhook.secret(chance.bytes(webhook.SECRET_BYTES))
    rotated = webhooks.rotate(found, secret, clock.now() + webhook.OLD_SECRET_SIGNS)
    if rotated is None:
        raise Conflict("webhook_changed_meanwhile", "it got another secret at this moment; look again")
    return rotated
