"""The way to DynamoDB, with its troubles: the real client behind a line that fails as it is told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Perform = Callable[[], Any]
Trouble = Callable[[Perform], Any]
"""What becomes of one request, given the way to perform it."""

ENDPOINT = "https://dynamodb.us-east-1.amazonaws.com"


def answer_lost(meanwhile: Callable[[], object] = lambda: None) -> Trouble:
    """The request is performed; before its sender notices that no answer came, `meanwhile` happens."""

    def trouble(perform: Perform) -> Any:
        with suppress(ClientError):
            perform()
        meanwhile()
        raise ReadTimeoutError(endpoint_url=ENDPOINT)

    return trouble


def never_arrives(perform: Perform) -> Any:
    raise ConnectTimeoutError(endpoint_url=ENDPOINT)


def refused_with(code: str, status: int = 400) -> Trouble:
    """The service answers with that fault, and does nothing."""

    def trouble(perform: Perform) -> Any:
        raise ClientError({"Error": {"Code": code}, "ResponseMetadata": _metadata(status)}, "Write")

    return trouble


def cancelled_for(*reasons: str) -> Trouble:
    """A transaction is cancelled, with a code for each of its writes."""

    def trouble(perform: Perform) -> Any:
        fault: Any = {
            "Error": {"Code": "TransactionCanceledException"},
            "ResponseMetadata": _metadata(400),
            "CancellationReasons": [{"Code": reason} for reason in reasons],
        }
        raise ClientError(fault, "TransactWriteItems")

    return trouble


def _metadata(status: int) -> Any:
    return {"HTTPStatusCode": status}


@dataclass(frozen=True)
class Sent:
    """A request as it went out."""

    operation: str
    request: dict[str, Any]

    @property
    def writes(self) -> bool:
        return self.operation not in ("query", "get_item")


class BadLine:
    """Requests meet the troubles in their order, one each; with none left they pass. All of them are remembered."""

    def __init__(self, client: DynamoDBClient) -> None:
        self._client = client
        self.troubles: deque[Trouble] = deque()
        self.sent: list[Sent] = []
        self.disturbs_reads = True
        self.arrived = 0
        """Writes that came through, refused and repeated ones too."""

    @property
    def as_client(self) -> DynamoDBClient:
        return cast("DynamoDBClient", self)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return partial(self._send, operation)

    def _send(self, operation: str, **request: Any) -> Any:
        sent = Sent(operation, request)
        self.sent.append(sent)
        perform = partial(self._perform, sent)
        if self.troubles and (sent.writes or self.disturbs_reads):
            return self.troubles.popleft()(perform)
        return perform()

    def _perform(self, sent: Sent) -> Any:
        self.arrived += sent.writes
        return getattr(self._client, sent.operation)(**sent.request)

    def meets(self, *troubles: Trouble) -> None:
        """What happens to the next requests."""
        self.troubles.extend(troubles)

    def repeat(self, sent: Sent) -> None:
        """A request that the network kept for a while arrives, again or at last. Nobody waits for its answer."""
        with suppress(ClientError):
            self._perform(sent)
