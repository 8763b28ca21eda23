"""Sendings in SQS. A try that failed hides its message for as long as the pause lasts; the queue counts the tries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.announcement import detail, read_detail
from chalicelib.core.errors import Unavailable
from chalicelib.ports.webhook_queue import Sending, Taken

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

BATCH = 10
"""Messages that SQS takes at once."""


class SqsWebhookQueue:
    """A `WebhookQueue`."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def put(self, sendings: Sequence[Sending]) -> None:
        for first in range(0, len(sendings), BATCH):
            self._put([_entry(number, each) for number, each in enumerate(sendings[first : first + BATCH])])

    def taken(self, record: Mapping[str, Any]) -> Taken:
        body = json.loads(record["body"])
        return Taken(
            Sending(read_detail(body["announcement"]), body["webhook"], body["url"]),
            tries=int(record["attributes"]["ApproximateReceiveCount"]),
            message_id=record["messageId"],
            receipt=record["receiptHandle"],
        )

    def put_off(self, taken: Taken, seconds: int) -> None:
        try:
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=taken.receipt, VisibilityTimeout=seconds
            )
        except (ClientError, BotoCoreError) as fault:
            raise Unavailable(f"a webhook was not put off: {fault}") from fault

    def _put(self, entries: Sequence[SendMessageBatchRequestEntryTypeDef]) -> None:
        try:
            failed = self._client.send_message_batch(QueueUrl=self._url, Entries=entries).get("Failed", [])
        except (ClientError, BotoCoreError) as fault:
            raise Unavailable(f"webhooks were not queued: {fault}") from fault
        if failed:
            raise Unavailable(f"{len(failed)} webhooks were not queued: {failed[0].get('Message')}")


def _entry(number: int, sending: Sending) -> SendMessageBatchRequestEntryTypeDef:
    body = {"webhook": sending.webhook, "url": sending.url, "announcement": detail(sending.announcement)}
    return {"Id": str(number), "MessageBody": json.dumps(body)}
