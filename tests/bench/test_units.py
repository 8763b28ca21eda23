"""What is claimed of costs, counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.meter import Meter
from bench.poll import LENGTHS, costs
from chalicelib.adapters.models.scripted import Turn
from chalicelib.core.events import EventType
from chalicelib.ports.payload_store import PayloadStore
from tests.fresh_table import fresh_table
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.workshop import Workshop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.mark.parametrize("length", LENGTHS)
def test_a_poll_is_one_request_and_half_a_read_unit_however_long_the_log_is(
    length: int, dynamodb: DynamoDBClient, payloads: PayloadStore
) -> None:
    with fresh_table(dynamodb) as table:
        found = costs(dynamodb, table, payloads, length)
    assert {(cost.case, cost.requests, cost.read_units) for cost in found} == {
        ("nothing new", 1, 0.5),
        ("ten new events", 1, 0.5),
    }


def streamed(shop: Workshop, dynamodb: DynamoDBClient) -> tuple[Workshop, Meter]:
    with Meter().running(dynamodb) as meter:
        shop.advance()
    return shop, meter


def test_a_batch_of_text_is_one_write_unit(workshop: OpenWorkshop, dynamodb: DynamoDBClient) -> None:
    words = " ".join("considerably" for _ in range(600))
    shop, meter = streamed(workshop((Turn(text=words, pace=0.03),)), dynamodb)
    batches = len(shop.told(EventType.TEXT_DELTA)) - 1
    puts = [request for request in meter.requests if request.operation == "PutItem"]
    others = 2  # step.started and model.replied, which carries the whole text
    assert batches > 10
    assert len(puts) == batches + others
    assert [request.write_units for request in puts[:-1]] == [1] * (batches + 1)
