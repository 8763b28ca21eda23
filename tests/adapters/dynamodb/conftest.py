"""Here the store's requests go over a line that tests can disturb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.ports.payload_store import PayloadStore
from tests.adapters.dynamodb.bad_line import BadLine
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def line(dynamodb: DynamoDBClient) -> BadLine:
    return BadLine(dynamodb)


@pytest.fixture
def runs(line: BadLine, table: str, payloads: PayloadStore) -> DynamoRunStore:
    return DynamoRunStore(line.as_client, table, payloads=payloads, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def api_keys(line: BadLine, table: str) -> DynamoKeyStore:
    return DynamoKeyStore(line.as_client, table, clock=VirtualTime(), chance=CountedChance())


@pytest.fixture
def own_agents(line: BadLine, table: str) -> DynamoAgentStore:
    return DynamoAgentStore(line.as_client, table, clock=VirtualTime(), chance=CountedChance())
