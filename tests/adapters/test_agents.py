"""The agents that come along, and beside them those of an account."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.adapters.agents import RESERVED, Agents, built_in
from chalicelib.adapters.models.scripts import SCRIPTS
from chalicelib.adapters.tools.current_time import current_time
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from chalicelib.core.agent import BUILT_IN
from chalicelib.ports.agent_store import AgentStore
from tests.builders import NOON, an_agent
from tests.virtual_time import VirtualTime


@pytest.fixture
def agents(own_agents: AgentStore) -> Agents:
    return Agents(built_in("llama3:8b"), own_agents)


def test_without_a_provider_there_is_the_demo_alone(own_agents: AgentStore) -> None:
    agents = Agents(built_in(None), own_agents)

    assert [agent.name for agent in agents.all("acme")] == ["demo"]
    assert agents.find("acme", "chat") is None


def test_with_a_provider_there_is_chat_on_its_model_too(agents: Agents) -> None:
    assert [agent.name for agent in agents.all("acme")] == ["chat", "demo"]
    chat = agents.find("acme", "chat")
    assert chat is not None
    assert chat.model == "openai:llama3:8b"


@pytest.mark.parametrize("agent", built_in("default"), ids=lambda agent: agent.name)
def test_every_tool_that_an_agent_names_is_there(agent: object) -> None:
    tools = FunctionToolbox([current_time(VirtualTime())])

    assert all(tools.specs(each.tools) for each in built_in("default") if each == agent)


def test_the_demo_plays_a_script_that_ships() -> None:
    [demo] = built_in(None)

    assert demo.model.removeprefix("scripted:") in SCRIPTS


def test_every_built_in_agent_is_of_the_built_in_version_and_has_a_name_that_is_reserved() -> None:
    assert {agent.version for agent in built_in("default")} == {BUILT_IN}
    assert {agent.name for agent in built_in("default")} == RESERVED


def test_an_accounts_own_agents_stand_beside_the_built_in_ones_and_only_there(
    agents: Agents, own_agents: AgentStore
) -> None:
    own_agents.keep("acme", an_agent(name="clerk"))

    assert [agent.name for agent in agents.all("acme")] == ["chat", "clerk", "demo"]
    assert agents.find("acme", "clerk") == an_agent(name="clerk")
    assert [agent.name for agent in agents.all("globex")] == ["chat", "demo"]
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
