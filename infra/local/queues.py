"""SQS by the local clock, and its mappings as Lambda keeps them.

moto would invoke a queue's function inside the sender's call, show it every message as a first try, and measure a
message's pauses by the machine's clock and from when it was sent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import moto.sqs.models as moto_models
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import Message, Queue, SQSBackend, sqs_backends

from chalicelib.ports.clock import Clock
from infra.local.functions import Outcome
from infra.local.overrides import override
from infra.local.stack import REGION

AN_HOUR = 3600.0
"""Between two looks into an empty queue, by the local clock; what is put there wakes its server."""

Invoke = Callable[[str, Any], Outcome]
"""Runs the function of that ARN to its end."""


@dataclass
class Mapping:
    """A queue and the function that gets its messages."""

    queue: Queue
    function: str
    batch: int
    news: threading.Event = field(default_factory=threading.Event)


class Queues:
    """A thread for every mapping, from `begin` to `close`."""

    def __init__(self, clock: Clock, invoke: Invoke) -> None:
        self._clock = clock
        self._invoke = invoke
        self._mappings = [each for queue in _backend().queues.values() for each in _taken_over(queue)]
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._serve, args=(each,), daemon=True) for each in self._mappings]

    def begin(self) -> None:
        """Give out what comes, from now on."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Give out nothing more."""
        self._over.set()
        for mapping in self._mappings:
            mapping.news.set()

    def finish(self) -> None:
        """Wait until nothing is given out any more. No function may run, so that this comes soon."""
        for thread in self._threads:
            thread.join()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """moto's SQS goes by the local clock, and what is put into a queue wakes who serves it."""
        put = Queue.add_message

        def add_message(queue: Queue, message: Message) -> None:
            put(queue, message)
            for mapping in self._mappings:
                if mapping.queue is queue:
                    mapping.news.set()

        with ExitStack() as stack:
            stack.enter_context(override(Queue, "add_message", add_message))
            for target, name, replacement in _repairs(self._clock):
                stack.enter_context(override(target, name, replacement))
            yield

    def _serve(self, mapping: Mapping) -> None:
        while not self._over.is_set():
            mapping.news.clear()
            messages = _backend().receive_message(mapping.queue.name, mapping.batch, 0, _hidden_for(mapping.queue))
            if messages:
                self._hand_over(mapping, messages)
            elif not self._over.is_set():
                self._clock.sleep(self._until_next(mapping.queue), mapping.news)

    def _hand_over(self, mapping: Mapping, messages: Sequence[Message]) -> None:
        outcome = self._invoke(mapping.function, {"Records": [_record(mapping.queue, each) for each in messages]})
        again = {each.id for each in messages} if outcome.failed else _failed(outcome.payload)
        for message in messages:
            if message.id not in again:
                mapping.queue.delete_message(str(message.receipt_handle))

    def _until_next(self, queue: Queue) -> float:
        """Seconds until a message that is hidden now comes out."""
        now = self._clock.now().timestamp()
        hidden = [max(each.visible_at, each.delayed_until) / 1000 - now for each in list(queue._messages)]
        return min((seconds for seconds in hidden if seconds > 0), default=AN_HOUR)


def _backend() -> SQSBackend:
    return sqs_backends[DEFAULT_ACCOUNT_ID][REGION]


def _taken_over(queue: Queue) -> list[Mapping]:
    """The queue's mappings, of which moto then knows no more."""
    found = queue.lambda_event_source_mappings
    taken = [Mapping(queue, arn, each.batch_size) for arn, each in found.items() if each.enabled]
    found.clear()
    return taken


def _hidden_for(queue: Queue) -> int:
    seconds: Any = queue
    return int(seconds.visibility_timeout)


def _repairs(clock: Clock) -> Iterator[tuple[Any, str, Any]]:
    """What of moto is replaced, and by what."""
    delete = Queue.delete_message

    def unix_time(*_: object) -> float:
        return clock.now().timestamp()

    def delete_message(queue: Queue, receipt_handle: str) -> None:
        # moto rebuilds the list, and a message that is put in at this moment would be lost.
        with queue._messages_lock:
            delete(queue, receipt_handle)

    yield moto_models, "unix_time", unix_time
    yield moto_models, "unix_time_millis", lambda *_: unix_time() * 1000
    # A clock that is turned by hand stands still at the very moment at which a message comes out.
    yield Message, "visible", property(lambda message: unix_time() * 1000 >= message.visible_at)
    yield Queue, "delete_message", delete_message
    yield SQSBackend, "change_message_visibility", _change_message_visibility


def _change_message_visibility(
    backend: SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int
) -> None:
    """Without moto's bound of twelve hours since the sending: AWS counts them from the receipt."""
    queue = backend.get_queue(queue_name)
    found = [each for each in list(queue._messages) if each.had_receipt_handle(receipt_handle)]
    if not found:
        raise ReceiptHandleIsInvalid
    found[0].change_visibility(visibility_timeout)


def _record(queue: Queue, message: Message) -> dict[str, Any]:
    return {
        "messageId": message.id,
        "receiptHandle": message.receipt_handle,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.approximate_receive_count),
            "SentTimestamp": str(message.sent_timestamp),
            "ApproximateFirstReceiveTimestamp": str(message.approximate_first_receive_timestamp),
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": queue.queue_arn,
        "awsRegion": REGION,
    }


def _failed(answer: Any) -> set[str]:
    """The messages that the function could not settle, by what it says of a batch; nothing said: none."""
    failures = (answer or {}).get("batchItemFailures") or []
    return {each["itemIdentifier"] for each in failures}
