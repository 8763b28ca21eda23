"""What the model's table answers, the real store answers: ways of the search, made once more on moto."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.ports.payload_store import PayloadStore
from tests.fresh_table import fresh_table
from tests.model import scenarios
from tests.model.explore import Search
from tests.model.replay import bare, can_be_replayed, replay
from tests.model.state import Scenario
from tests.virtual_time import CountedChance, VirtualTime

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
)


@pytest.mark.parametrize("scenario", _REPLAYED, ids=lambda scenario: scenario.name)
def test_the_real_store_goes_the_same_way(scenario: Scenario, dynamodb: DynamoDBClient, payloads: PayloadStore) -> None:
    search = Search(scenario)
    assert search.run().flaw is None
    ways = [(state, trace) for state, trace in search.ways_to_the_end() if can_be_replayed(trace)]
    assert ways
    for state, trace in islice(ways, WAYS):
        with fresh_table(dynamodb) as table:
            store = DynamoRunStore(dynamodb, table, payloads=payloads, clock=VirtualTime(), chance=CountedChance())
            run, log = replay(trace, search.world, store)
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
