from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from typer.testing import CliRunner, Result

from pawl_client import PawlClient
from pawl_client.cli import app
from tests.clients.fake_pawl import SECRET, STORY, FakePawl
from tests.clients.manual_time import ManualTime

Pawl = Callable[..., Result]
"""The command line."""


@pytest.fixture
def pawl() -> Iterator[FakePawl]:
    with FakePawl(STORY) as pawl:
        yield pawl


@pytest.fixture
def time() -> ManualTime:
    return ManualTime()


@pytest.fixture
def client(pawl: FakePawl, time: ManualTime) -> Iterator[PawlClient]:
    with PawlClient(pawl.url, SECRET, pace=time.pace()) as client:
        yield client


@pytest.fixture
def call(pawl: FakePawl) -> Pawl:
    env = {"PAWL_URL": pawl.url, "PAWL_KEY": SECRET}
    return lambda *args: CliRunner(env=env).invoke(app, args, catch_exceptions=False)
