"""The app on a table of its own, in virtual time, with executions that are only noted down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from app import app
from chalicelib import bootstrap
from chalicelib.adapters.dynamodb.key_store import DynamoKeyStore
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core.api_key import Scope
from chalicelib.ports.agent_store import AgentStore
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.upload_store import UploadStore
from chalicelib.usecases.make_key import make_key
from tests.handlers.door import Door
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OpenDoor = Callable[..., Door]


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
def executions() -> RecordingWorkflow:
    return RecordingWorkflow()


@pytest.fixture
def world(
    table: str,
    runs: DynamoRunStore,
    api_keys: DynamoKeyStore,
    own_agents: AgentStore,
    uploads: UploadStore,
    files: FileStore,
    time: VirtualTime,
    executions: RecordingWorkflow,
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    made = World(Config(table=table, bucket="payloads", state_machine_arn="arn", ticket_secret="t" * 32))
    made.clock, made.chance, made.crew = time, CountedChance(), time
    made.runs, made.keys, made.workflow, made.own_agents = runs, api_keys, executions, own_agents
    monkeypatch.setattr(bootstrap, "world", lambda: made)
    made.uploads, made.files = uploads, files
    return made


@pytest.fixture
def opened(world: World) -> OpenDoor:
    """A door for a new key: `opened("globex", Scope.READ)`; by default an account's with every scope."""

    def door(account_id: str = "acme", *scopes: Scope) -> Door:
        _, secret = make_key(
            "test",
            frozenset(scopes or Scope),
            account_id=account_id,
            keys=world.keys,
            clock=world.clock,
            chance=world.chance,
        )
        return Door(app, secret)

    return door


@pytest.fixture
def door(opened: OpenDoor) -> Door:
    return opened()


@pytest.fixture
def stranger(world: World) -> Door:
    """A door for somebody without a key."""
    return Door(app)


Contents = Callable[[], list[Any]]


@pytest.fixture
def contents(dynamodb: DynamoDBClient, table: str) -> Contents:
    """Everything that the table holds, to show that nothing was written."""
    return lambda: sorted(dynamodb.scan(TableName=table)["Items"], key=str)
