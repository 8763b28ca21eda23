"""The key that the laptop's clients find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core.api_key import Scope
from chalicelib.usecases.identify import identify
from chalicelib.usecases.revoke_key import revoke_key
from infra import table
from infra.local import development_key

CONFIG = Config(table="runs", bucket="payloads", state_machine_arn="arn")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        wanted = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
        properties = {name: table.properties()[name] for name in wanted}
        boto3.client("dynamodb").create_table(TableName=CONFIG.table, **properties)
        yield World(CONFIG)


def secret_in(path: Path) -> str:
    return path.read_text().strip()


def test_a_key_with_every_scope_is_put_where_only_its_owner_reads_it(tmp_path: Path, world: World) -> None:
    path = tmp_path / ".pawl" / "key"
    development_key.provide(path, world)
    assert path.stat().st_mode & 0o777 == 0o600
    found = identify(secret_in(path), keys=world.keys)
    assert (found.account_id, found.name, found.scopes) == ("dev", "development", frozenset(Scope))


def test_a_key_that_counts_is_kept(tmp_path: Path, world: World) -> None:
    path = tmp_path / "key"
    development_key.provide(path, world)
    secret = secret_in(path)
    development_key.provide(path, world)
    assert secret_in(path) == secret


def test_a_key_of_another_cloud_or_a_revoked_one_is_replaced(tmp_path: Path, world: World) -> None:
    path = tmp_path / "key"
    path.write_text("pawl_of_yesterday\n")
    path.chmod(0o644)
    development_key.provide(path, world)
    first = identify(secret_in(path), keys=world.keys)
    assert path.stat().st_mode & 0o777 == 0o600
    revoke_key(first.key_id, account_id="dev", keys=world.keys, clock=world.clock)
    development_key.provide(path, world)
    assert identify(secret_in(path), keys=world.keys).key_id != first.key_id
