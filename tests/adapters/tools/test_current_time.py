"""The time, as a tool tells it."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.adapters.tools.current_time import current_time
from chalicelib.adapters.tools.toolbox import ToolProblem
from chalicelib.core.tools import Effect
from tests.a_call import an_invocation
from tests.virtual_time import VirtualTime

NOW = datetime(2026, 7, 14, 22, 30, 5, tzinfo=UTC)


def ask(args: Mapping[str, Any]) -> str:
    _, tell = current_time(VirtualTime(NOW))
    return str(tell(an_invocation("current_time", args)))


@pytest.fixture
def no_system_zones() -> Iterator[None]:
    """A machine without a time zone database, as a Lambda may be."""
    zoneinfo.reset_tzpath(to=[])
    zoneinfo.ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()
    zoneinfo.ZoneInfo.clear_cache()


def test_asking_the_time_changes_nothing() -> None:
    spec, _ = current_time(VirtualTime(NOW))

    assert spec.effect is Effect.READ


def test_without_a_timezone_it_is_in_utc() -> None:
    assert ask({}) == "Tuesday, 2026-07-14T22:30:05+00:00 (UTC)"


def test_a_timezone_has_its_own_day_and_its_summer_time() -> None:
    assert ask({"timezone": "Europe/Paris"}) == "Wednesday, 2026-07-15T00:30:05+02:00 (Europe/Paris)"


@pytest.mark.usefixtures("no_system_zones")
def test_the_zones_come_along_where_the_system_has_none() -> None:
    assert ask({"timezone": "Asia/Kathmandu"}) == "Wednesday, 2026-07-15T04:15:05+05:45 (Asia/Kathmandu)"


@pytest.mark.parametrize(
    "name", ["Paris", "", "Europe", "../etc/passwd", "/etc/passwd", "a\0b", "\ud83d", "x" * 5000, "Europe/Paris "]
)
def test_a_name_that_is_no_zone_is_told_with_what_one_looks_like(name: str) -> None:
    with pytest.raises(ToolProblem, match="no IANA time zone; they look like Europe/Paris") as problem:
        ask({"timezone": name})

    assert len(str(problem.value)) < 500


@pytest.mark.parametrize("value", [7, None, ["Europe/Paris"], {}])
def test_a_timezone_is_a_string(value: object) -> None:
    with pytest.raises(ToolProblem, match="must be a string"):
        ask({"timezone": value})


def test_arguments_that_it_does_not_know_are_not_passed_over() -> None:
    with pytest.raises(ToolProblem, match="takes only timezone, not 'city'"):
        ask({"timezone": "UTC", "city": "Paris"})
