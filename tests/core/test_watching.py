"""Polls note that somebody follows, but not each of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.core import watching
from chalicelib.core.run import TERMINAL, Status
from tests.builders import NOON, a_run


def test_the_first_poll_of_a_run_stamps_it_for_fifteen_seconds() -> None:
    assert watching.stamp_due(a_run(), NOON) == NOON + timedelta(seconds=15)


@pytest.mark.parametrize(("later", "stamps"), [(0.5, False), (9.9, False), (10, True), (60, True)])
def test_a_run_is_stamped_again_after_ten_seconds_and_not_before(later: float, stamps: bool) -> None:
    stamped = replace(a_run(), watched_until=watching.stamp_due(a_run(), NOON))

    assert (watching.stamp_due(stamped, NOON + timedelta(seconds=later)) is not None) is stamps


@pytest.mark.parametrize("status", [*sorted(TERMINAL)])
def test_a_run_that_has_ended_is_not_stamped(status: Status) -> None:
    assert watching.stamp_due(a_run(status=status), NOON) is None
