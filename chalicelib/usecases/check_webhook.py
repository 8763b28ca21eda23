"""What a task wants to have told of its own run."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.core import webhook
from chalicelib.core.egress import EgressPolicy
from chalicelib.core.errors import InvalidInput
from chalicelib.core.task import Task
from chalicelib.ports.webhook_store import WebhookStore


def check_webhook(asked: Task, *, account_id: str, webhooks: WebhookStore, policy: EgressPolicy) -> Task:
    """The task, with its webhook's URL in the one spelling. Raises `InvalidInput`."""
    if asked.webhook is None:
        return asked
    url = webhook.check_url(asked.webhook.url, policy, field="webhook.url")
    name = asked.webhook.signed_by
    if not webhook.is_name(name) or webhooks.find(account_id, name) is None:
        detail, expected = "the account has no such webhook", "the name of a webhook of the account, whose secret signs"
        raise InvalidInput("unknown_webhook", detail, field="webhook.signed_by", expected=expected)
    return replace(asked, webhook=replace(asked.webhook, url=url))
