"""Make a webhook, or change one."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.core import webhook
from chalicelib.core.egress import EgressPolicy
from chalicelib.core.errors import Conflict
from chalicelib.core.events import EventType
from chalicelib.core.webhook import Webhook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.webhook_store import WebhookStore


@dataclass(frozen=True, slots=True)
class PutWebhook:
    """`made`: there was none of that name, and its secret is told only now."""

    webhook: Webhook
    made: bool


def put_webhook(
    name: str,
    url: str,
    events: frozenset[EventType],
    *,
    account_id: str,
    webhooks: WebhookStore,
    policy: EgressPolicy,
    clock: Clock,
    chance: Chance,
) -> PutWebhook:
    """Raises `InvalidInput`, and `Conflict` where the account has enough of them."""
    webhook.check_name(name)
    url = webhook.check_url(url, policy)
    changed = webhooks.change(account_id, name, url, events)
    if changed is not None:
        return PutWebhook(changed, made=False)
    if len(webhooks.of_account(account_id)) >= webhook.MAX_WEBHOOKS:
        expected = f"at most {webhook.MAX_WEBHOOKS} webhooks"
        raise Conflict("too_many_webhooks", "the account has enough of them; delete one first", expected=expected)
    secret = webhook.secret(chance.bytes(webhook.SECRET_BYTES))
    made = Webhook(account_id, name, url, events, secret, clock.now())
    if webhooks.add(made):
        return PutWebhook(made, made=True)
    raise Conflict("webhook_changed_meanwhile", "it came into being at this moment; put it again")
