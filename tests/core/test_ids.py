"""The forms of ids."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.core import ids
from tests.core.a_log import NOON


def test_run_ids_sort_by_time_and_differ_by_chance() -> None:
    early = ids.run_id(NOON, b"\xff" * 10)
    late = ids.run_id(NOON + timedelta(milliseconds=1), b"\x00" * 10)
    assert early < late
    assert ids.run_id(NOON, b"\x00" * 10) < early
    assert ids.is_run_id(early)


@pytest.mark.parametrize(
    "odd", ["", "run_", "run_../../etc/passwd", "run_" + "A" * 26, "run_" + "0" * 25, "x" + "0" * 30]
)
def test_what_is_no_run_id_is_known_by_its_form(odd: str) -> None:
    assert not ids.is_run_id(odd)


def test_a_call_id_fits_the_forty_characters_that_providers_allow() -> None:
    assert len(ids.call_id(ids.run_id(NOON, b"\x00" * 10), 99_999, 99)) <= 40


def test_an_execution_name_fits_the_eighty_characters_of_step_functions() -> None:
    assert len(ids.execution_name(ids.run_id(NOON, b"\x00" * 10), 10**6)) <= 80


NAMED = "run_00000000000000000000000001"


def test_an_execution_s_name_says_its_run_and_its_start() -> None:
    assert ids.read_execution_name(ids.execution_name(NAMED, 12)) == (NAMED, 12)


@pytest.mark.parametrize("name", ["by-hand", NAMED, f"{NAMED}-x", f"{NAMED}-", "-1"])
def test_a_name_that_somebody_gave_by_hand_is_no_run_s(name: str) -> None:
    assert ids.read_execution_name(name) is None
