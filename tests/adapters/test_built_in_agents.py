"""The agents that come along: which, on what models, and what they may do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.built_in_agents import RESERVED, built_in
from chalicelib.adapters.models.scripted import Turn
from chalicelib.adapters.models.scripts import SCRIPTS
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core import grants, permissions, recipe
from chalicelib.core.agent import BUILT_IN, Agent
from chalicelib.core.facts import Facts
from chalicelib.core.judge import judge
from chalicelib.core.permissions import Ruling
from chalicelib.core.tools import Mark

REAL = {"analyst", "assistant", "chat", "researcher"}
SCRIPTED = {"demo", "demo-analyst", "demo-assistant", "demo-researcher"}
AGENTS = {agent.name: agent for agent in built_in("llama3:8b")}
SPECS = {spec.name: spec for spec in World(Config(table="t", bucket="b", state_machine_arn="a")).built_in_specs}
OFFER = recipe.Offer({"scripted": frozenset(SCRIPTS), "openai": None})
BOTH_MET = Facts(marks=frozenset({Mark.PRIVATE, Mark.UNTRUSTED}))


def test_without_a_provider_there_are_the_scripted_ones_alone() -> None:
    assert {agent.name for agent in built_in(None)} == SCRIPTED


def test_with_a_provider_there_are_those_on_its_model_too() -> None:
    assert AGENTS.keys() == SCRIPTED | REAL
    assert {AGENTS[name].model for name in REAL} == {"openai:llama3:8b"}


def test_the_page_on_agents_names_every_script() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()

    assert {name for name in SCRIPTS if f"`scripted:{name}`" not in page} == set()


def test_an_agent_stays_away_where_one_of_its_tools_does() -> None:
    there = {agent.name for agent in built_in("any", {"send_email", "run_code"})}

    assert there == {"chat", "researcher", "demo", "demo-researcher"}


def test_the_names_of_all_of_them_are_reserved_wherever_they_are() -> None:
    assert RESERVED == SCRIPTED | REAL


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_each_is_as_good_a_recipe_as_an_accounts_own_must_be(agent: Agent) -> None:
    recipe.check_name(agent.name)
    recipe.check(json.loads(json.dumps(recipe.data(agent))), OFFER)
    about = [SPECS[name] for name in agent.tools]
    lines = [permissions.text(rule) for rule in agent.permissions]

    assert grants.parse(lines, field="permissions", specs=about) == agent.permissions
    assert agent.version == BUILT_IN


@pytest.mark.parametrize("name", sorted(SCRIPTED))
def test_a_scripted_agent_plays_a_script_that_ships_and_calls_its_own_tools_only(name: str) -> None:
    agent = AGENTS[name]
    script = SCRIPTS[agent.model.removeprefix("scripted:")]

    called = {call.name for turn in turns(script) for call in turn.calls}
    assert called
    assert called <= {*agent.tools}


def turns(script: tuple[Turn, ...]) -> Iterator[Turn]:
    for turn in script:
        yield turn
        if turn.if_failed is not None:
            yield turn.if_failed


@pytest.mark.parametrize("name", ["researcher", "analyst", "assistant"])
def test_a_demo_may_do_just_what_the_agent_may_that_it_shows(name: str) -> None:
    def powers(agent: Agent) -> Mapping[str, Any]:
        return {part: of for part, of in recipe.data(agent).items() if part not in ("description", "model")}

    assert powers(AGENTS[f"demo-{name}"]) == powers(AGENTS[name])


MAIL = {"to": ["jo@acme.example"], "domain": ["acme.example"]}
PAGE = {"host": "acme.example", "method": "GET"}


@pytest.mark.parametrize(
    ("agent", "tool", "fields", "facts", "ruling"),
    [
        ("researcher", "http_get", PAGE, Facts(), Ruling.ALLOW),
        ("researcher", "http_get", PAGE, Facts(marks=frozenset({Mark.UNTRUSTED})), Ruling.ALLOW),
        ("researcher", "http_get", PAGE, BOTH_MET, Ruling.ASK),
        ("researcher", "http_get", PAGE, Facts(made={"allow http_get max 40": 40}), Ruling.DENY),
        ("researcher", "notes", {"action": "list"}, Facts(), Ruling.ALLOW),
        ("researcher", "notes", {"action": "read", "name": "anything"}, Facts(), Ruling.ALLOW),
        ("researcher", "notes", {"action": "write", "name": "research/honey"}, Facts(), Ruling.ALLOW),
        ("researcher", "notes", {"action": "write", "name": "addresses"}, Facts(), Ruling.DENY),
        ("researcher", "notes", {"action": "delete", "name": "research/honey"}, Facts(), Ruling.DENY),
        ("analyst", "run_code", {}, Facts(), Ruling.ALLOW),
        ("assistant", "send_email", MAIL, Facts(), Ruling.ASK),
        ("assistant", "send_email", MAIL, Facts(granted=frozenset({"send_email"})), Ruling.ASK),
        ("assistant", "send_email", MAIL, Facts(made={"ask send_email max 10": 10}), Ruling.DENY),
        ("assistant", "notes", {"action": "write", "name": "anything"}, Facts(), Ruling.ALLOW),
        ("assistant", "notes", {"action": "delete", "name": "anything"}, Facts(), Ruling.ASK),
        ("assistant", "wait_until", {}, Facts(), Ruling.ALLOW),
    ],
)
def test_what_the_useful_agents_may_do(
    agent: str, tool: str, fields: Mapping[str, Any], facts: Facts, ruling: Ruling
) -> None:
    assert judge(tool, fields, SPECS[tool], [AGENTS[agent].permissions], facts).ruling is ruling
