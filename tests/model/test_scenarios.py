"""Nothing that the search can do is left undone by every world: an unused fault would be one that nobody looked at."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tests.model import scenarios
from tests.model.effect_variants import EFFECT_VARIANTS
from tests.model.explore import Search
from tests.model.roles import ROLES
from tests.model.slot_variants import SLOT_VARIANTS
from tests.model.state import Faults
from tests.model.table import Rules
from tests.model.variants import VARIANTS
from tests.model.world import World

NEAR = 1_000
"""States; whoever plays a part in a world has come in by then."""


@pytest.mark.parametrize("fault", Faults._fields)
def test_whatever_may_go_wrong_does_so_in_some_world(fault: str) -> None:
    """That all of a world's faults come about on some way is what `test_protocol` asks of each."""
    assert any(getattr(world.faults, fault) for world in scenarios.ALL)


def test_whoever_can_act_does_so_in_some_world() -> None:
    unseen = set(ROLES)
    for scenario in reversed(scenarios.ALL):
        unseen -= _seen_near(World(scenario)) if unseen else set()
    assert not unseen


def _seen_near(world: World) -> set[str]:
    states = [world.first()]
    for state in states:
        if len(states) < NEAR:
            states += [after for _, after in world.successors(state)]
    return {world.cast[number].role[0] for number in range(len(world.cast))}


@pytest.mark.parametrize("rule", [field.name for field in fields(Rules)])
def test_whatever_the_table_insists_on_is_left_out_by_some_variant(rule: str) -> None:
    every = (*VARIANTS, *EFFECT_VARIANTS, *SLOT_VARIANTS)
    assert any(getattr(each.scenario.rules, rule) != getattr(Rules(), rule) for each in every)


def test_the_tick_finds_no_slot_that_is_nobodys() -> None:
    """It may read of a slot, and then that the run has just freed it; but there is nothing left for it to free."""
    search = Search(replace(scenarios.CROWDED, faults=Faults(ticks=1, frees=1, sweeps=1)), 4_000)
    assert search.run().flaw is None
    tried = search.world.shelf.made("free")
    assert tried
    assert all(before == after for before, after in tried)
