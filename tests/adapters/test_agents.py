"""The agents that come built in."""

from __future__ import annotations

import pytest

from chalicelib.adapters.agents import ConfiguredAgents
from chalicelib.adapters.models.scripts import SCRIPTS
from chalicelib.adapters.tools.current_time import current_time
from chalicelib.adapters.tools.toolbox import FunctionToolbox
from tests.virtual_time import VirtualTime


def test_without_a_provider_there_is_the_demo_alone() -> None:
    agents = ConfiguredAgents(None)

    assert [agent.name for agent in agents.all("acme")] == ["demo"]
    assert agents.find("acme", "chat") is None


def test_with_a_provider_there_is_chat_on_its_model_too() -> None:
    agents = ConfiguredAgents("llama3:8b")

    assert [agent.name for agent in agents.all("acme")] == ["chat", "demo"]
    chat = agents.find("acme", "chat")
    assert chat is not None
    assert chat.model == "openai:llama3:8b"


@pytest.mark.parametrize("name", ["chat", "demo"])
def test_every_tool_that_an_agent_names_is_there(name: str) -> None:
    agent = ConfiguredAgents("default").find("acme", name)

    assert agent is not None
    assert FunctionToolbox([current_time(VirtualTime())]).specs(agent.tools)


def test_the_demo_plays_a_script_that_ships() -> None:
    demo = ConfiguredAgents(None).find("acme", "demo")

    assert demo is not None
    assert demo.model.removeprefix("scripted:") in SCRIPTS
