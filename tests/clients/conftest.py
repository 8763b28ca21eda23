from __future__ import annotations

from collections.abc import Iterator

import pytest

from pawl_client import PawlClient
from tests.clients.fake_pawl import SECRET, STORY, FakePawl
from tests.clients.manual_time import ManualTime


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
