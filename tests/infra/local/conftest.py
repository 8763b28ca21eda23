"""The stand-in stack, up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from infra.local.clock import HandClock
from infra.local.cloud import LocalCloud, Options
from tests.infra.local import standin

BringUp = Callable[..., LocalCloud]


def options(**given: Any) -> Options:
    return Options(**{"template": standin.template(), "clock": HandClock(), "ticking": False, **given})


@pytest.fixture(autouse=True)
def _nothing_heard() -> Iterator[None]:
    standin.forget()
    yield
    standin.going_on.set()


@pytest.fixture
def bring_up() -> Iterator[BringUp]:
    """Brings a local cloud up that is down when the test is over."""
    with ExitStack() as opened:
        yield lambda **given: opened.enter_context(LocalCloud(options(**given)))


@pytest.fixture(scope="module")
def cloud() -> Iterator[LocalCloud]:
    """One that the tests of a module share: to bring one up takes a second or two."""
    with LocalCloud(options()) as cloud:
        yield cloud
