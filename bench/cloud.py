"""What the benches measure in front of: DynamoDB as a process of its own (moto's server), and ours as others."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from chalicelib.adapters.aws.clients import client
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core.api_key import Scope
from chalicelib.usecases.make_key import make_key
from tests.fresh_table import fresh_table
from tests.patience import await_true

ROOT = Path(__file__).parents[1]
ACCOUNT = "acme"


@dataclass(frozen=True)
class Cloud:
    """`environment` leads a process of ours there, `world` this one; `key` has every right in `ACCOUNT`."""

    environment: Mapping[str, str]
    world: World
    key: str


@contextmanager
def a_cloud() -> Iterator[Cloud]:
    """An empty table, for as long as the block lasts."""
    port = free_port()
    aws = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with ExitStack() as opened:
        opened.enter_context(surroundings(aws))
        opened.enter_context(a_process("-m", "moto.server", "-p", str(port), answers=f"http://127.0.0.1:{port}/"))
        table = opened.enter_context(fresh_table(client("dynamodb")))
        world = World(Config(table=table, bucket="bench", state_machine_arn="arn:bench", replay_cap=1_000_000))
        named = {"PAWL_TABLE": table, "PAWL_BUCKET": "bench", "PAWL_STATE_MACHINE_ARN": "arn:bench"}
        yield Cloud({**aws, **named, "REPLAY_CAP": str(world.config.replay_cap)}, world, a_secret(world))


def a_secret(world: World) -> str:
    """A new key with every right in `ACCOUNT`."""
    _, secret = make_key(
        "bench",
        frozenset(Scope),
        account_id=ACCOUNT,
        keys=world.keys,
        clock=world.clock,
        chance=world.chance,
    )
    return secret


@contextmanager
def an_edge(cloud: Cloud, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m chalicelib.edge`, once it answers."""
    settings = {**cloud.environment, "PAWL_EDGE_PORT": str(port)}
    with a_process("-m", "chalicelib.edge", answers=f"http://127.0.0.1:{port}/healthz", settings=settings) as process:
        yield process


@contextmanager
def a_rest_api(cloud: Cloud, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The Chalice app on Chalice's own server, which buffers each answer as API Gateway does."""
    answers = f"http://127.0.0.1:{port}/healthz"
    with a_process("-m", "bench.rest_api", str(port), answers=answers, settings=cloud.environment) as process:
        yield process


@contextmanager
def a_process(
    *arguments: str, answers: str, settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that serves; it is there once the URL `answers` does, and killed when the block is left."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        await_true(lambda: _answers(process, answers), seconds=60)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def surroundings(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables of this process, for as long as the block lasts."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    if process.poll() is not None:
        raise AssertionError(f"{process.args!r} ended")
    try:
        return httpx.get(url, trust_env=False, timeout=5).status_code < 500
    except httpx.TransportError:
        return False
