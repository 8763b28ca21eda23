"""The soak: a few runs through it, and what it takes for a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bench import soak as bench
from bench.soak import soak
from bench.soaked import MIB_FOR_EACH, WAYS, Life, Plan, Soak
from tests.builders import run_id
from tests.stories.conftest import Town, a_town, with_scripts

MIB = 2**20
SEED = 38
"""With it half of the runs are slow ones, cancelled soon after they began, and two others end before their turn."""


@pytest.fixture(scope="module")
def place() -> Iterator[Town]:
    with a_town({}, ticking=True) as place:
        with_scripts()
        yield place


def test_a_few_runs_live_through_cuts_and_cancels_and_are_seen_whole(place: Town) -> None:
    done = soak(place, Plan(runs=10, at_once=5, seed=SEED, agents=("brief", "slow"), cancelled=1.0, doubled=4))

    assert list(done.faults()) == []
    assert Counter(life.way for life in done.lives) == {"poll": 4, "sse": 3, "socket": 3}
    assert {life.status for life in done.lives} == {"done", "cancelled"}
    assert done.cuts > 1


def test_a_run_that_does_not_end_is_stuck_for_whoever_follows_it(place: Town) -> None:
    done = soak(place, Plan(runs=3, at_once=3, agents=("silent",), patience=2))

    assert [life.fault for life in done.lives] == ["is stuck"] * len(WAYS)
    for life in done.lives:
        place.cancel(life.run_id)


def sound() -> Soak:
    lives = [
        Life(run_id(1), "poll", "done", whole=True),
        Life(run_id(2), "sse", "cancelled", whole=True, cancelled=True),
    ]
    growing = [100 * MIB, 200 * MIB, 230 * MIB, 250 * MIB, 270 * MIB]
    return Soak(Plan(runs=2), lives, cuts=3, memory=growing, threads=[10, 30], objects=[2_000, 2_100])


def test_a_sound_soak_has_no_fault() -> None:
    assert list(sound().faults()) == []


@pytest.mark.parametrize(
    ("life", "fault"),
    [
        (Life(run_id(1), "sse", None, whole=False), "is stuck"),
        (Life(run_id(1), "sse", "failed", whole=True), "ended failed"),
        (Life(run_id(1), "sse", "done", whole=True, cancelled=True), "took cancel and ended done"),
        (Life(run_id(1), "sse", "cancelled", whole=True), "was sent no cancel and ended cancelled"),
        (Life(run_id(1), "sse", "done", whole=False), "was not seen whole"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_a_run_must_not_come_to_is_a_fault(life: Life, fault: str) -> None:
    done = sound()
    done.lives[0] = life

    assert list(done.faults()) == [f"{run_id(1)} (sse) {fault}"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lives": []}, "0 of 2 runs were followed"),
        ({"cuts": 0}, "no line was cut"),
        ({"findings": ["lease_lapsed"]}, "the doctor finds lease_lapsed"),
        ({"threads": [10, 500]}, "500 threads at the end, 10 at the beginning"),
        ({"objects": [2_000, 2_500]}, "2500 objects at the end, 2000 at the beginning"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_left_behind_or_was_not_tried_is_a_fault(more: dict[str, Any], said: str) -> None:
    assert list(replace(sound(), **more).faults()) == [said]


def test_memory_that_goes_on_growing_is_a_fault_and_what_fills_up_at_first_is_none() -> None:
    flat = replace(sound(), memory=[0, 900 * MIB, 1800 * MIB, 1800 * MIB, 1800 * MIB])
    leaking = replace(sound(), memory=[each * (MIB_FOR_EACH + 1) * MIB for each in range(6)])

    assert list(flat.faults()) == []
    assert [fault.partition(" for")[0] for fault in leaking.faults()] == [f"{MIB_FOR_EACH + 1} MiB more"]


@pytest.mark.parametrize(("cuts", "rc"), [(3, 0), (0, 1)])
def test_a_fault_is_told_by_the_exit_code(cuts: int, rc: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "through_a_town", lambda plan: replace(sound(), cuts=cuts))
    monkeypatch.setattr("sys.argv", ["soak"])

    assert bench.main() == rc
