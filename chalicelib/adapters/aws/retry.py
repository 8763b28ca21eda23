"""The one place where a call to AWS is made again. The same request goes out each time, write id and all.

botocore's own retries are switched off for the services that come through here (see `clients`): it does not know
TransactionConflict, and its tries would multiply with ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from botocore import exceptions
from botocore.exceptions import ClientError

from chalicelib.core.errors import Unavailable
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

T = TypeVar("T")

TRIES = 6
PATIENCE = timedelta(seconds=8)
"""No try begins later than this after the first."""

LOST_ON_THE_WAY = (exceptions.HTTPClientError, exceptions.ConnectionError)
"""No answer, or no way there: the request may have done its work."""

_SHORTEST, _LONGEST = 0.05, 2.0

_PASSING = frozenset(
    {
        "TransactionConflictException",
        "TransactionInProgressException",
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "Throttling",
        "RequestLimitExceeded",
        "InternalServerError",
        "SlowDown",
        "RequestTimeout",
    }
)
_PASSING_REASONS = frozenset({"None", "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError"})


class Retry:
    def __init__(self, clock: Clock, chance: Chance) -> None:
        self._clock = clock
        self._chance = chance

    def __call__(self, send: Callable[[], T]) -> T:
        """What `send` gives, after at most `TRIES`. Raises `Unavailable`; a fault that no retry mends comes through."""
        began = self._clock.now()
        for failures in range(1, TRIES + 1):
            try:
                return send()
            except (ClientError, *LOST_ON_THE_WAY) as fault:
                if not passes(fault):
                    raise
                if self._is_enough(failures, began):
                    raise Unavailable(f"given up after {failures} tries: {fault}") from fault
            self._clock.sleep(self._pause(failures))
        raise AssertionError("the last try either answers or raises")

    def _is_enough(self, failures: int, began: datetime) -> bool:
        return failures == TRIES or self._clock.now() - began >= PATIENCE

    def _pause(self, failures: int) -> float:
        """Full jitter: anything from nothing up to a bound that doubles."""
        chance = int.from_bytes(self._chance.bytes(4), "big") / 2**32
        return float(chance * min(_LONGEST, _SHORTEST * 2**failures))


def passes(fault: Exception) -> bool:
    """Whether the same request may well succeed in a moment."""
    if not isinstance(fault, ClientError):
        return isinstance(fault, LOST_ON_THE_WAY)
    code = fault.response["Error"]["Code"]
    if code == "TransactionCanceledException":
        return _nothing_but_traffic(fault.response)
    return code in _PASSING or fault.response["ResponseMetadata"]["HTTPStatusCode"] >= 500


def _nothing_but_traffic(response: Mapping[str, Any]) -> bool:
    """Whether a transaction was cancelled without any condition having failed."""
    return {reason.get("Code", "None") for reason in response.get("CancellationReasons", ())} <= _PASSING_REASONS
