"""A provider for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.adapters.models.provider import Answer, Provider, Serve, serving


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as open_:

        def begin(answer: Answer) -> Provider:
            return open_.enter_context(serving(answer))

        yield begin
