"""One try of one webhook."""

from __future__ import annotations

import logging
from enum import StrEnum

from chalicelib.core import webhook
from chalicelib.core.egress import EgressPolicy
from chalicelib.core.errors import EgressFault
from chalicelib.core.webhook import Webhook
from chalicelib.ports.clock import Clock
from chalicelib.ports.web import Web, WebRequest
from chalicelib.ports.webhook_queue import Taken, WebhookQueue
from chalicelib.ports.webhook_store import WebhookStore

log = logging.getLogger(__name__)


class Sent(StrEnum):
    """What a try came to. Only one that is `put_off` comes again."""

    DELIVERED = "delivered"
    DROPPED = "dropped"
    GONE = "gone"
    PUT_OFF = "put_off"


def send_webhook(
    taken: Taken, *, webhooks: WebhookStore, queue: WebhookQueue, web: Web, policy: EgressPolicy, clock: Clock
) -> Sent:
    """Send it, if somebody still wants it. What nobody took is put off. Raises `Unavailable`."""
    told, own = taken.sending.announcement, taken.sending.url
    hook = webhooks.find(told.account_id, taken.sending.webhook)
    if hook is None or not (own or hook.wants(told.type)):
        return _noted(taken, Sent.DROPPED, "nobody wants it any more")
    answer = _answer(taken, hook, web, policy, clock)
    if answer == webhook.GONE:
        if own is None:
            webhooks.disable(hook, clock.now())
        return _noted(taken, Sent.GONE, answer)
    if isinstance(answer, int) and 200 <= answer < 300:
        return _noted(taken, Sent.DELIVERED, answer)
    queue.put_off(taken, webhook.pause_after(taken.tries))
    return _noted(taken, Sent.PUT_OFF, answer)


def _answer(taken: Taken, hook: Webhook, web: Web, policy: EgressPolicy, clock: Clock) -> int | str:
    """The status that the receiver answered, or why it answered none. A redirect is not followed: it is no 2xx."""
    told, now = taken.sending.announcement, clock.now()
    body = webhook.payload(told)
    headers = webhook.headers(told, body, hook.secrets(now), now)
    try:
        return web.ask(
            WebRequest("POST", taken.sending.url or hook.url, headers, body, seconds=webhook.TIMEOUT), policy
        ).status
    except EgressFault as fault:
        return fault.code


def _noted(taken: Taken, sent: Sent, answer: int | str) -> Sent:
    told = taken.sending.announcement
    log.log(
        logging.WARNING if sent in (Sent.PUT_OFF, Sent.GONE) else logging.INFO,
        "webhook %s: %s",
        sent,
        answer,
        extra={
            "action": "send_webhook",
            "account_id": told.account_id,
            "run_id": told.run_id,
            "seq": told.seq,
            "webhook": taken.sending.webhook,
            "tries": taken.tries,
        },
    )
    return sent
