"""Tell of events without being asked: the bus, each webhook that wants to know, and the run's own."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.core.announcement import Announcement
from chalicelib.ports.announcer import Announcer
from chalicelib.ports.webhook_queue import Sending, WebhookQueue
from chalicelib.ports.webhook_store import WebhookStore


def announce(
    told: Sequence[Announcement],
    *,
    webhooks: WebhookStore,
    queue: WebhookQueue,
    announcer: Announcer,
) -> None:
    """All of it at least once: whoever is not sure does it again, and the ids tell that it is the same.

    Raises `Unavailable`.
    """
    if not told:
        return
    hooks = {account_id: webhooks.of_account(account_id) for account_id in {one.account_id for one in told}}
    queue.put([Sending(one, hook.name) for one in told for hook in hooks[one.account_id] if hook.wants(one.type)])
    queue.put([Sending(one, one.own.signed_by, one.own.url) for one in told if one.own is not None])
    announcer.announce(told)
