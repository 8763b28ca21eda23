"""A wait is checked before it begins; only the time ends it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.adapters.tools.wait_until import SPEC, look, wait_until
from chalicelib.core import waits
from chalicelib.core.tools import Answers, Risk
from chalicelib.core.waits import ends_at
from tests.a_call import a_call, an_invocation
from tests.virtual_time import VirtualTime

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOX = FunctionToolbox([wait_until()], {"wait_until": look(VirtualTime(NOW))})


def problem(args: dict[str, Any]) -> str | None:
    return BOX.problem(a_call("wait_until", args))


@pytest.mark.parametrize(
    ("args", "ends"),
    [
        ({"seconds": 90}, NOW + timedelta(seconds=90)),
        ({"seconds": 0}, NOW),
        ({"seconds": 30 * 86_400}, NOW + timedelta(days=30)),
        ({"until": "2026-01-02T02:00:00+02:00"}, NOW + timedelta(days=1)),
        ({"until": "2026-01-31T00:00:00Z"}, NOW + timedelta(days=30)),
        ({"until": "2020-01-01T00:00:00Z"}, NOW),
        ({"until": "0001-01-01T00:00:00+02:00"}, NOW),
    ],
)
def test_a_wait_ends_when_it_says(args: dict[str, Any], ends: datetime) -> None:
    assert problem(args) is None
    assert ends_at(SPEC, args, NOW) == ends


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({}, "Name either until or seconds."),
        ({"seconds": 1, "until": "2026-01-02T00:00:00Z"}, "Name either until or seconds."),
        ({"seconds": -1}, "less than the minimum"),
        ({"seconds": 30 * 86_400 + 1}, "greater than the maximum"),
        ({"seconds": "60"}, "is not of type 'number'"),
        ({"until": "2026-01-31T00:00:01Z"}, "A wait lasts at most 30 days."),
        ({"until": "9999-12-31T23:59:59-05:00"}, "A wait lasts at most 30 days."),
        ({"until": "2026-01-02T00:00:00"}, "is not a 'date-time'"),
        ({"until": "tomorrow"}, "is not a 'date-time'"),
        ({"days": 1}, "'days' was unexpected"),
    ],
)
def test_a_wait_without_an_end_or_with_one_too_far_is_told(args: dict[str, Any], said: str) -> None:
    assert said in (problem(args) or "")


@pytest.mark.parametrize(
    ("seconds", "said"), [(math.nan, "Name either"), (math.inf, "at most 30 days"), (10**400, "at most 30 days")]
)
def test_a_wait_of_no_length_that_a_calendar_knows_is_told_and_no_crash(seconds: float, said: str) -> None:
    assert said in (waits.problem({"seconds": seconds}, NOW) or "")


def test_nobody_makes_a_wait_and_it_harms_nobody() -> None:
    assert (SPEC.answers, SPEC.risk) == (Answers.TIME, Risk.HARMLESS)
    assert not BOX.call(an_invocation("wait_until", {"seconds": 1})).ok
