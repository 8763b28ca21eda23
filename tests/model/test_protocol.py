"""The protocol keeps its promises, whatever comes between two of its calls: every interleaving within small bounds."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.model import liveness, scenarios
from tests.model.explore import Search
from tests.model.state import Faults, Scenario

WHOLE = os.environ.get("MODEL") == "whole"
"""`make model` lets more go wrong at once, which takes minutes."""


@pytest.mark.parametrize("scenario", scenarios.ALL, ids=lambda scenario: scenario.name)
def test_no_interleaving_breaks_a_promise(scenario: Scenario) -> None:
    searched = Search(replace(scenario, faults=scenario.more if WHOLE else scenario.faults)).run()
    print(f"\n{searched.states:9,} states {searched.steps:9,} steps  {scenario.name}: {searched.ends}")
    assert searched.flaw is None, f"\n{searched.flaw}"
    assert searched.exhausted, "everything that may go wrong must have gone wrong on some way"
    assert searched.ends, "some runs must have come to their end"


def test_the_hole_that_is_left_is_there_and_no_effect_happens_twice_through_it() -> None:
    """A worker that is stopped between its last look at the clock and the effect acts when it goes on again.

    That no effect happens twice is what the search of the same world above says.
    """
    flaw = Search(replace(scenarios.HOLE, late_effects=False)).run().flaw
    assert flaw is not None
    assert flaw.broken.endswith("a tool has its effect after its outcome was written down")


@pytest.mark.parametrize("faults", [Faults(ticks=1, crashes=1), Faults(cancels=1)], ids=str)
def test_what_a_use_case_has_forgotten_makes_no_difference(faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search takes positions that differ only in dead locals for one. It reaches the same tables without that."""
    scenario = replace(scenarios.TWIN, faults=faults)
    forgetting = _tables(scenario)
    monkeypatch.setattr(
        liveness,
        "living",
        lambda frame, at: {name: value for name, value in frame.f_locals.items() if not name.startswith(".")},
    )
    assert _tables(scenario) == forgetting


def _tables(scenario: Scenario) -> set[object]:
    search = Search(scenario)
    assert search.run().flaw is None
    return search.tables()
