"""Workshops, each with a table of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.ports.payload_store import PayloadStore
from tests.fresh_table import fresh_table
from tests.usecases.workshop import Workshop
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OpenWorkshop = Callable[..., Workshop]


@pytest.fixture
def workshop(dynamodb: DynamoDBClient, payloads: PayloadStore) -> Iterator[OpenWorkshop]:
    """Opens a workshop: `workshop(script, tools, budget)`."""
    with ExitStack() as tables:

        def opened(*args: Any, **kwargs: Any) -> Workshop:
            table = tables.enter_context(fresh_table(dynamodb))
            time = VirtualTime()
            runs = DynamoRunStore(dynamodb, table, payloads=payloads, clock=time, chance=CountedChance())
            slots = DynamoSlotStore(dynamodb, table, clock=time, chance=CountedChance())
            return Workshop(runs, slots, time, *args, **kwargs)

        yield opened
