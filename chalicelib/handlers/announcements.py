"""What is told without being asked: from the table's stream to the bus and the queue, from the queue to receivers."""

from __future__ import annotations

import logging
from typing import Any

from chalicelib import bootstrap
from chalicelib.core.errors import Unavailable
from chalicelib.usecases import announce as telling
from chalicelib.usecases.send_webhook import Sent
from chalicelib.usecases.send_webhook import send_webhook as send

log = logging.getLogger(__name__)


def announce(event: dict[str, Any], context: Any) -> None:
    """Announce the events that the records tell of. What is raised has the batch tried again."""
    world = bootstrap.world()
    told = world.stream.announced(event["Records"])
    telling.announce(told, webhooks=world.webhooks, queue=world.webhook_queue, announcer=world.announcer)


def send_webhook(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Send what the queue gives out, each message by itself; the answer names those that are to come again."""
    again = [record["messageId"] for record in event["Records"] if not _settled(record)]
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in again]}


def _settled(record: dict[str, Any]) -> bool:
    world = bootstrap.world()
    taken = world.webhook_queue.taken(record)
    try:
        sent = send(
            taken,
            webhooks=world.webhooks,
            queue=world.webhook_queue,
            web=world.web,
            policy=world.webhook_egress,
            clock=world.clock,
        )
    except Unavailable:
        log.exception("a webhook comes again when its message does", extra={"action": "send_webhook"})
        return False
    return sent is not Sent.PUT_OFF
