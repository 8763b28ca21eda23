"""The world that the environment describes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from chalicelib import bootstrap
from chalicelib.adapters.aws.ses_mailer import SesMailer
from chalicelib.adapters.built_in_agents import DEMO
from chalicelib.adapters.models.openai import OpenAIModel
from chalicelib.adapters.models.scripts import SCRIPTS
from chalicelib.adapters.outbox import Outbox
from chalicelib.adapters.tools.guarded import Guarded
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core.agent import Agent
from chalicelib.core.change import record
from chalicelib.core.declared import LambdaTool
from chalicelib.core.errors import Unavailable
from chalicelib.core.events import EventType
from chalicelib.core.recipe import Offer
from chalicelib.core.tools import ToolSpec
from chalicelib.core.watch import Watch
from tests.a_call import an_invocation
from tests.adapters.tools.stranger import a_stranger
from tests.builders import NOON, RUN_ID, a_key, a_run, a_stamp, accepted, an_agent
from tests.conftest import BUCKET

SETTINGS = {"PAWL_BUCKET": BUCKET, "PAWL_STATE_MACHINE_ARN": "arn"}


@pytest.fixture
def world(aws: None, s3: object, table: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The world of an environment that names the mocked AWS."""
    for name in [name for name in os.environ if name.startswith("PAWL_")]:
        monkeypatch.delenv(name)
    for name, value in (SETTINGS | {"PAWL_TABLE": table}).items():
        monkeypatch.setenv(name, value)
    bootstrap.world.cache_clear()
    yield bootstrap.world()
    bootstrap.world.cache_clear()


def test_there_is_one_world_a_process(world: World) -> None:
    assert bootstrap.world() is world


def test_runs_and_keys_are_kept_in_the_table_that_the_environment_names(world: World) -> None:
    world.runs.create(a_run(), accepted(), None)
    world.keys.add(a_key())

    assert world.runs.tail(RUN_ID) is not None
    assert world.keys.find(a_key().digest) == a_key()


def test_a_large_payload_goes_to_the_bucket_that_the_environment_names(world: World) -> None:
    world.runs.create(a_run(), accepted(), None)
    large = record(EventType.TOOL_FINISHED, {"content": "x" * 40_000}, tail=0, stamp=a_stamp(1))

    world.runs.append(a_run(), large)

    _, log = world.runs.log(RUN_ID)
    assert log[1].data == large.data
    assert world.runs.payload(RUN_ID, hashlib.sha256(b'"' + b"x" * 40_000 + b'"').hexdigest()) is not None


def test_without_a_provider_there_are_the_scripted_agents_only(world: World) -> None:
    assert [agent.name for agent in world.agents.all("acme")] == ["demo", "demo-researcher"]


@pytest.mark.parametrize("email_from", [None, "pawl@acme.example"])
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_an_agent_comes_along_where_all_of_its_tools_are_configured(
    world: World, email_from: str | None, sandbox: str
) -> None:
    made = a_world_with_a_model(world.config.table, email_from=email_from, sandbox=sandbox)
    there = made.agents.all("acme")

    for agent in there:
        box = made.toolboxes.of("acme", agent)
        assert [name for name in agent.tools if box.spec(name) is None] == []
    names = {agent.name for agent in there}
    assert ({"assistant", "demo-assistant"} <= names) is (email_from is not None)
    assert ({"analyst", "demo-analyst"} <= names) is (sandbox == "auto")


@pytest.mark.parametrize(("laptop", "offered"), [(True, ["strange__act"]), (False, [])])
def test_only_a_laptop_asks_mcp_servers_of_its_own(laptop: bool, offered: list[str]) -> None:
    world = World(Config(table="table", bucket="bucket", state_machine_arn="arn", laptop=laptop))
    with a_stranger() as (server, stranger):
        box = world.toolboxes.of("acme", Agent("a", "", "", "scripted:x", declared=(server,)))
        names = [spec.name for spec in box.specs(())]

    assert names == offered
    assert bool(stranger.asked) is laptop


def test_an_mcp_server_gets_the_accounts_secret(aws: None) -> None:
    boto3.client("ssm").put_parameter(Name="/secrets/acme/key", Value="of-acme-alone", Type="SecureString")
    settings = {"table": "table", "bucket": "bucket", "state_machine_arn": "arn", "secrets_prefix": "/secrets"}
    world = World(Config(**settings, laptop=True))  # type: ignore[arg-type]
    with a_stranger("key") as (server, stranger):
        box = world.toolboxes.of("acme", Agent("a", "", "", "scripted:x", declared=(server,)))
        assert [spec.secrets for spec in box.specs(())] == [("key",)]

    assert {asked.headers["authorization"] for asked in stranger.requests} == {"Bearer of-acme-alone"}


def test_a_declared_function_is_called_by_name(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(Config(table="table", bucket="bucket", state_machine_arn="arn"))
    spec = ToolSpec("pay", "Pays.", {"type": "object"})
    box = world.toolboxes.of("acme", Agent("a", "", "", "scripted:x", declared=(LambdaTool(spec, "nowhere"),)))

    result = box.call(an_invocation("pay", deadline=world.clock.now() + timedelta(seconds=9)))

    assert result.content.startswith("The function nowhere gave no answer: ResourceNotFoundException")


def test_an_accounts_own_agents_are_kept_in_the_same_table(world: World) -> None:
    world.own_agents.keep("acme", an_agent(name="clerk"))

    assert world.agents.find("acme", "clerk") == an_agent(name="clerk")


def test_agents_can_be_made_of_what_is_configured() -> None:
    bare, whole = a_world(), a_world_with_a_model(laptop=True)

    assert bare.offer == Offer({"scripted": frozenset(SCRIPTS)})
    assert whole.offer == Offer({"scripted": frozenset(SCRIPTS), "openai": None}, loopback=True)


def a_world() -> World:
    return World(Config(table="table", bucket="bucket", state_machine_arn="arn"))


def a_world_with_a_model(table: str = "table", **settings: Any) -> World:
    return World(
        Config(
            table=table,
            bucket="bucket",
            state_machine_arn="arn",
            model_url="https://models.example/v1",
            model_name="small",
            **settings,
        )
    )


def test_with_a_provider_there_is_an_agent_for_its_model(world: World) -> None:
    world = a_world_with_a_model(world.config.table)

    assert [agent.model for agent in world.agents.all("acme") if agent.name == "chat"] == ["openai:small"]


def test_the_providers_key_comes_itself_or_out_of_the_parameter_store(
    aws: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = []
    monkeypatch.setattr(OpenAIModel, "__init__", lambda self, url, key=None: keys.append(key))
    boto3.client("ssm").put_parameter(Name="/pawl/key", Value="kept", Type="SecureString")

    for world in (
        a_world_with_a_model(),
        a_world_with_a_model(model_key="given"),
        a_world_with_a_model(model_key_parameter="/pawl/key"),
    ):
        assert world.model is world.model

    assert keys == [None, "given", "kept"]


def test_tickets_are_signed_with_the_secret_that_the_parameter_store_keeps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    boto3.client("ssm").put_parameter(Name="/pawl/ticket-secret", Value="t" * 32, Type="SecureString")
    monkeypatch.setenv("PAWL_TICKET_SECRET_PARAMETER", "/pawl/ticket-secret")
    bootstrap.world.cache_clear()

    assert bootstrap.world().ticket_secret == b"t" * 32


def test_without_a_secret_no_ticket_is_signed(world: World) -> None:
    with pytest.raises(Unavailable):
        _ = world.ticket_secret


def test_watches_are_kept_in_the_table_that_the_environment_names(world: World) -> None:
    watch = Watch("c1", RUN_ID, "acme", 4, False, NOON)
    world.watches.subscribe(watch)

    assert world.watches.of_run(RUN_ID) == [watch]


def test_a_tools_secrets_are_the_parameters_under_the_prefix_of_the_environment(world: World) -> None:
    client = boto3.client("ssm")
    client.put_parameter(Name="/pawl/secrets/acme/token", Value="one two", Type="SecureString")

    assert world.secrets.get("acme", "token") == "one two"
    assert world.secrets.get("evil", "token") is None


def test_tools_are_guarded_and_what_is_long_is_kept_in_the_bucket(world: World) -> None:
    box = world.toolboxes.of("acme", world.agents.all("acme")[0])

    assert isinstance(box, Guarded)
    assert box.spec("current_time") is not None
    digest = world.toolboxes._keep(RUN_ID, "call", "long")  # type: ignore[attr-defined]
    assert world.runs.payload(RUN_ID, digest) == b'"long"'


def built_in(world: World) -> set[str]:
    box = world.toolboxes.of("acme", world.agents.all("acme")[0])
    names = ("current_time", "http_get", "notes", "wait_until", "send_email")
    return {name for name in names if box.spec(name) is not None}


def test_mail_is_among_the_tools_only_where_it_has_a_sender(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert built_in(world) == {"current_time", "http_get", "notes", "wait_until"}

    monkeypatch.setenv("PAWL_EMAIL_FROM", "pawl@acme.example")
    assert "send_email" in built_in(World(Config.from_env(os.environ)))
    assert isinstance(World(Config.from_env(os.environ))._mailer, SesMailer)

    monkeypatch.setenv("PAWL_OUTBOX", str(tmp_path))
    assert isinstance(World(Config.from_env(os.environ))._mailer, Outbox)


@pytest.mark.parametrize(("sandbox", "there"), [("off", False), ("auto", True), ("lambda", True)])
def test_code_is_a_tool_where_there_is_a_sandbox(sandbox: str, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    made = World(
        Config(
            table="table",
            bucket="bucket",
            state_machine_arn="arn",
            sandbox=sandbox,
            sandbox_function="pawl-dev-sandbox",
        )
    )

    assert (made.toolboxes.of("acme", DEMO).spec("run_code") is not None) is there
    if there:
        assert type(made.sandbox).__name__ == ("LambdaSandbox" if sandbox == "lambda" else "ProvenSandbox")
