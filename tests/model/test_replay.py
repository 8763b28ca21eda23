"""What the model's table answers, the real store answers: ways of the search, made once more on moto."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.core.slots import CAP
from chalicelib.ports.payload_store import PayloadStore
from tests.fresh_table import fresh_table
from tests.model import scenarios
from tests.model.effect_variants import EFFECT_VARIANTS
from tests.model.explore import Search, Searched, Trace
from tests.model.promises import Broken, check_table
from tests.model.replay import SLOTS, GivenChance, Replay, bare
from tests.model.slot_variants import SLOT_VARIANTS
from tests.model.state import Scenario
from tests.model.variants import VARIANTS, Variant
from tests.model.world import World
from tests.virtual_time import VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WAYS = 6
"""So many of a scenario, the shortest first, each different in what went wrong or in what the log tells."""

_REPLAYED = (
    scenarios.TWIN,
    scenarios.NETWORK,
    scenarios.PAYMENT,
    scenarios.FAILING,
    scenarios.SLICES,
    scenarios.WOKEN,
    scenarios.UNWAITED,
    scenarios.LOST_START,
    scenarios.LONG,
    scenarios.QUESTION,
    scenarios.OUTCOME,
    scenarios.CROWDED,
    scenarios.CROWDED_ALONE,
    scenarios.CROWDED_WAIT,
)

_FLAWS_OF_THE_CODE = (
    "stopping at the end",
    "step.reset",
    "another step for a message that came late",
    "one transaction for the owed reply and the end",
    "the first text.delta and the change to streaming as one",
    "the due time of an answered wait",
    "the question before a risky call",
    "the questions that an end closes",
    "the person who is asked before a payment is made again",
)
"""Variants with a rule taken out of a use case: the table does what it is told, and can be left broken."""

_FLAWS_OF_THE_TABLE = (
    "the lease that a renewal must find",
    "the run as it was read, for its starts to be counted up",
    "the start among the conditions of keeping a token",
    "the wait without an answer, for a token to be kept",
    "what a change was made from, among its conditions",
    "the slot among the conditions of a change",
    "the condition of a slot",
    "the condition of standing in line",
)
"""Variants with a condition taken out of the model's table, which the real one has. Not those whose story ends
right before the write that the condition would refuse."""

_BY_NAME = {variant.without: variant for variant in (*VARIANTS, *EFFECT_VARIANTS, *SLOT_VARIANTS)}

Opened = Callable[[World], AbstractContextManager[Replay]]


@pytest.fixture
def on_a_fresh_table(dynamodb: DynamoDBClient, payloads: PayloadStore) -> Opened:
    @contextmanager
    def opened(world: World) -> Iterator[Replay]:
        chance, cap = GivenChance(), SLOTS if world.scenario.around.crowded else CAP
        with fresh_table(dynamodb) as table:
            runs = DynamoRunStore(dynamodb, table, payloads=payloads, clock=VirtualTime(), chance=chance, cap=cap)
            yield Replay(world, runs, DynamoSlotStore(dynamodb, table, clock=VirtualTime(), chance=chance), chance)

    return opened


@pytest.mark.parametrize("scenario", _REPLAYED, ids=lambda scenario: scenario.name)
def test_the_real_store_goes_the_same_way(scenario: Scenario, on_a_fresh_table: Opened) -> None:
    search = Search(scenario)
    assert search.run().flaw is None
    for state, trace in islice(search.ways_to_the_end(), WAYS):
        with on_a_fresh_table(search.world) as replay:
            run, log = replay.run(trace)
        assert log == search.world.shelf.log(state.table.log)
        assert bare(run) == bare(search.world.run(state))


def test_among_them_are_a_takeover_a_lost_answer_and_a_late_write() -> None:
    told = ""
    for scenario in (scenarios.TWIN, scenarios.NETWORK):
        search = Search(scenario)
        search.run()
        told += "".join(str(trace) for _, trace in search.ways_to_the_end())
    assert "commit run.attempt" in told
    assert "the answer is lost" in told
    assert "network" in told


@pytest.mark.parametrize("without", _FLAWS_OF_THE_CODE)
def test_a_flaw_of_the_code_breaks_the_real_store_in_the_same_way(
    without: str, monkeypatch: pytest.MonkeyPatch, on_a_fresh_table: Opened
) -> None:
    """So a trace that the search prints is a way that a real table can go."""
    search, flaw = _flawed(_BY_NAME[without], monkeypatch)
    with on_a_fresh_table(search.world) as replay:
        run, log = replay.run(flaw)
    with pytest.raises(Broken) as broken:
        check_table(run, log)
    assert flaw.broken == str(broken.value)


@pytest.mark.parametrize("without", _FLAWS_OF_THE_TABLE)
def test_a_flaw_of_the_models_table_is_where_the_real_store_goes_another_way(
    without: str, monkeypatch: pytest.MonkeyPatch, on_a_fresh_table: Opened
) -> None:
    """The conditions that the variant leaves out are really there."""
    search, flaw = _flawed(_BY_NAME[without], monkeypatch)
    with (
        on_a_fresh_table(search.world) as replay,
        pytest.raises(AssertionError, match=r"the store says: (the run moved|the lease is lost|no slot)$"),
    ):
        replay.run(flaw)


def _flawed(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> tuple[Search, Trace]:
    search = Search(variant.scenario)
    with monkeypatch.context() as patch:
        variant.patch(patch)
        searched: Searched = search.run()
    assert searched.flaw is not None
    return search, searched.flaw
