"""Making a call to AWS again: which, how often, for how long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from botocore import exceptions
from botocore.exceptions import ClientError

from chalicelib.adapters.aws.retry import PATIENCE, TRIES, Retry
from chalicelib.core.errors import Unavailable
from tests.virtual_time import VirtualTime

ENDPOINT = "https://dynamodb.us-east-1.amazonaws.com"


class Fixed:
    """A `Chance` that always gives the same."""

    def __init__(self, byte: int) -> None:
        self._byte = byte

    def bytes(self, count: int) -> bytes:
        return bytes([self._byte]) * count

    def write_id(self) -> str:
        raise AssertionError("a retry makes no new write")


def fault(code: str, status: int = 400) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": _metadata(status)}, "PutItem")


def _metadata(status: int) -> Any:
    return {"HTTPStatusCode": status}


def failing(times: int, with_: Exception, meanwhile: Callable[[], object] = lambda: None) -> Callable[[], int]:
    """A call that fails so many times and then says which time it was."""
    made = 0

    def call() -> int:
        nonlocal made
        made += 1
        meanwhile()
        if made <= times:
            raise with_
        return made

    return call


PASSING = [
    fault("TransactionConflictException"),
    fault("ProvisionedThroughputExceededException"),
    fault("ThrottlingException"),
    fault("RequestLimitExceeded"),
    fault("InternalServerError", 500),
    fault("SomethingNew", 503),
    fault("SlowDown", 503),
    exceptions.ReadTimeoutError(endpoint_url=ENDPOINT),
    exceptions.ConnectTimeoutError(endpoint_url=ENDPOINT),
    exceptions.EndpointConnectionError(endpoint_url=ENDPOINT),
    exceptions.ConnectionClosedError(endpoint_url=ENDPOINT),
]


@pytest.mark.parametrize("passing", PASSING, ids=str)
def test_a_fault_that_passes_is_outlived(passing: Exception) -> None:
    time = VirtualTime()

    assert Retry(time, Fixed(255))(failing(TRIES - 1, passing)) == TRIES


@pytest.mark.parametrize("passing", PASSING, ids=str)
def test_one_that_does_not_pass_is_unavailable(passing: Exception) -> None:
    with pytest.raises(Unavailable) as unavailable:
        Retry(VirtualTime(), Fixed(255))(failing(TRIES, passing))

    assert unavailable.value.__cause__ is passing


@pytest.mark.parametrize("code", ["ConditionalCheckFailedException", "ValidationException", "AccessDeniedException"])
def test_what_no_retry_mends_comes_through_at_once(code: str) -> None:
    with pytest.raises(ClientError):
        Retry(VirtualTime(), Fixed(255))(failing(1, fault(code)))


def test_the_pauses_are_short_together() -> None:
    time = VirtualTime()
    began = time.now()

    Retry(time, Fixed(255))(failing(TRIES - 1, PASSING[0]))

    assert timedelta(seconds=1) < time.now() - began < timedelta(seconds=5)


def test_with_luck_there_is_no_pause_at_all() -> None:
    time = VirtualTime()
    began = time.now()

    Retry(time, Fixed(0))(failing(TRIES - 1, PASSING[0]))

    assert time.now() == began


def test_a_dead_line_is_given_up_after_a_while_not_after_so_many_tries() -> None:
    """Each try takes its whole time-out: two of them are enough, the lease is running."""
    time = VirtualTime()
    began = time.now()
    dead = failing(TRIES, exceptions.ReadTimeoutError(endpoint_url=ENDPOINT), meanwhile=lambda: time.advance(5))

    with pytest.raises(Unavailable):
        Retry(time, Fixed(255))(dead)

    assert PATIENCE <= time.now() - began < PATIENCE + timedelta(seconds=5)
