"""The agents that come along, and beside them those of an account."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.adapters.agents import Agents
from chalicelib.adapters.built_in_agents import built_in
from chalicelib.core.agent import BUILT_IN
from chalicelib.ports.agent_store import AgentStore
from tests.builders import NOON, an_agent


@pytest.fixture
def agents(own_agents: AgentStore) -> Agents:
    return Agents(built_in("llama3:8b"), own_agents)


def test_an_accounts_own_agents_stand_beside_the_built_in_ones_and_only_there(
    agents: Agents, own_agents: AgentStore
) -> None:
    own_agents.keep("acme", an_agent(name="clerk"))

    ours = [agent.name for agent in built_in("llama3:8b")]
    assert [agent.name for agent in agents.all("acme")] == sorted([*ours, "clerk"])
    assert agents.find("acme", "clerk") == an_agent(name="clerk")
    assert [agent.name for agent in agents.all("globex")] == sorted(ours)
    assert agents.find("globex", "clerk") is None
    assert agents.find("globex", "clerk", 1) is None


def test_an_old_version_is_found_whatever_came_after_it_even_the_end(agents: Agents, own_agents: AgentStore) -> None:
    first, second = an_agent(name="clerk"), an_agent(name="clerk", version=2, prompt="Be quick.")
    own_agents.keep("acme", first)
    own_agents.keep("acme", second)
    own_agents.unlist("acme", "clerk", NOON)

    assert agents.find("acme", "clerk") is None
    assert [agents.find("acme", "clerk", version) for version in (1, 2, 3)] == [first, second, None]
    assert "clerk" not in [agent.name for agent in agents.all("acme")]


def test_a_run_of_an_accounts_own_agent_keeps_it_when_a_release_brings_one_of_that_name(
    own_agents: AgentStore,
) -> None:
    own = an_agent(name="clerk")
    own_agents.keep("acme", own)
    shipped = replace(own, version=BUILT_IN, prompt="Ours.")
    agents = Agents([shipped], own_agents)

    assert agents.find("acme", "clerk", own.version) == own
    assert agents.find("acme", "clerk") == shipped
    assert agents.find("acme", "clerk", BUILT_IN) == shipped
    assert list(agents.all("acme")) == [shipped]
