"""What becomes of a run when the platform fails it: it waits, and is never lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.models.scripted import Turn
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import EventType
from chalicelib.core.run import Status
from chalicelib.core.transcript import text
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.route import END
from chalicelib.usecases.sweep import sweep
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import RUN_ID, Tool, Workshop, asks
from tests.virtual_time import CountedChance

WORDS = "one two three four five six seven eight"
A_LEASE_AND_A_TICK = 120


def throttled() -> Exception:
    error = {
        "Error": {"Code": "ThrottlingException", "Message": "slow down"},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    return ClientError(error, "PutItem")  # type: ignore[arg-type]


def away() -> Exception:
    return ConnectTimeoutError(endpoint_url="https://dynamodb")


@dataclass
class Failing:
    """A client whose calls fail from the `first` on, `times` times; what it was asked to do is not done."""

    client: Any
    first: int
    times: int
    fault: Exception
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def call(**request: Any) -> Any:
            self.calls.append(name)
            if self.first <= len(self.calls) < self.first + self.times:
                raise self.fault
            return method(**request)

        return call


def with_failing(shop: Workshop, dynamodb: Any, payloads: PayloadStore, failing: Failing) -> None:
    """The worker's store gets the failing client; time and table are the workshop's."""
    table = shop.runs._table._name  # type: ignore[attr-defined]
    shop.runs = DynamoRunStore(failing, table, payloads=payloads, clock=shop.time, chance=CountedChance())  # type: ignore[arg-type]


@pytest.mark.parametrize("fault", [throttled(), away()], ids=["throttled", "away"])
def test_a_fault_that_passes_is_borne_within_the_call(
    workshop: OpenWorkshop, dynamodb: Any, payloads: PayloadStore, fault: Exception
) -> None:
    shop = workshop((Turn(text=WORDS, pace=1),))
    with_failing(shop, dynamodb, payloads, Failing(dynamodb, first=4, times=3, fault=fault))
    assert shop.advance() == END
    assert text(shop.log) == WORDS
    assert shop.told(EventType.RUN_ATTEMPT) == []


@pytest.mark.parametrize("first", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("fault", [throttled(), away()], ids=["throttled", "away"])
def test_a_table_that_stays_away_leaves_a_run_that_goes_on_when_it_is_back(
    workshop: OpenWorkshop, dynamodb: Any, payloads: PayloadStore, first: int, fault: Exception
) -> None:
    shop = workshop((Turn(text=WORDS, pace=1),))
    calm = shop.runs
    with_failing(shop, dynamodb, payloads, Failing(dynamodb, first, times=10_000, fault=fault))
    with pytest.raises(Unavailable):
        shop.advance()

    shop.runs = calm
    given_up = abandon(
        RUN_ID,
        1,
        "Unavailable",
        runs=shop.runs,
        slots=shop.slots,
        workflow=shop.workflow,
        clock=shop.time,
        chance=shop.chance,
    )
    assert not given_up
    assert put_back(RUN_ID, 1, runs=shop.runs, workflow=shop.workflow, clock=shop.time)
    shop.time.advance(A_LEASE_AND_A_TICK)
    assert shop.advance(start=2) == END
    assert shop.run.status is Status.DONE
    assert text(shop.log) == WORDS


def test_a_bucket_that_stays_away_leaves_a_run_that_goes_on_when_it_is_back(
    workshop: OpenWorkshop, dynamodb: Any, payloads: PayloadStore
) -> None:
    large = Tool(works=lambda: "x" * 100_000)
    shop = workshop((asks("look"), Turn(text=WORDS)), [large])
    calm = shop.runs

    class Away:
        def put(self, key: str, body: bytes) -> None:
            raise Unavailable("the bucket is away")

    with_failing(shop, dynamodb, Away(), Failing(dynamodb, 0, 0, away()))  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        shop.advance()

    shop.runs = calm
    shop.time.advance(A_LEASE_AND_A_TICK)
    sweep(runs=shop.runs, slots=shop.slots, workflow=shop.workflow, clock=shop.time, chance=shop.chance)
    assert shop.advance(start=2) == END
    (finished,) = shop.told(EventType.TOOL_FINISHED)
    assert len(finished.data["content"]) == 100_000
    assert shop.run.status is Status.DONE
