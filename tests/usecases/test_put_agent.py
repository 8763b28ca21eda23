"""Agents as data: versions that are never lost, and runs that keep theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from chalicelib.adapters.agents import Agents
from chalicelib.adapters.built_in_agents import RESERVED, built_in
from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import ScriptedModel, Turn
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.core import permissions
from chalicelib.core.agent import Agent
from chalicelib.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from chalicelib.core.events import EventType
from chalicelib.core.recipe import Offer
from chalicelib.core.run import Status
from chalicelib.core.task import Task
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.model import ModelCall, ModelRequest
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.upload_store import UploadStore
from chalicelib.usecases import put_agent as putting
from chalicelib.usecases.advance import advance
from chalicelib.usecases.delete_agent import delete_agent
from chalicelib.usecases.put_agent import put_agent
from chalicelib.usecases.read_agent import read_agent
from chalicelib.usecases.submit import submit
from chalicelib.usecases.work import Needs, Slice
from tests.core.recipes import LEAST, PAY, SIGN, WIKI
from tests.usecases.workshop import Policies, RecordingWorkflow, Tool, asks
from tests.virtual_time import CountedChance, VirtualTime

UNASKED = ["allow look max 9 preapproved"]
LOOKS: dict[str, Any] = {**LEAST, "model": "scripted:test", "tools": ["look"], "permissions": UNASKED}


class Interrupted(DynamoAgentStore):
    """A store in which something happens after the newest version was read, once for each that is to happen."""

    meanwhile: tuple[Callable[[], object], ...] = ()

    def newest(self, account_id: str, name: str) -> tuple[Agent, bool] | None:
        found = super().newest(account_id, name)
        if self.meanwhile:
            happens, self.meanwhile = self.meanwhile[0], self.meanwhile[1:]
            happens()
        return found


@dataclass
class Recorded:
    """A `Model` that remembers what it was asked."""

    model: RoutedModel
    asked: list[ModelRequest] = field(default_factory=list)

    def call(self, request: ModelRequest) -> ModelCall:
        self.asked.append(request)
        return self.model.call(request)


class House:
    """An account that defines agents and lets them run."""

    def __init__(
        self, runs: RunStore, slots: SlotStore, store: Interrupted, uploads: UploadStore, files: FileStore
    ) -> None:
        self.uploads, self.files = uploads, files
        self.time, self.chance = VirtualTime(), CountedChance()
        self.runs, self.slots, self.store = runs, slots, store
        self.agents = Agents(built_in(None), store)
        self.toolboxes = Shared(FunctionToolbox([Tool("look").in_the_box()]))
        script = ScriptedModel({"test": (asks("look"), Turn(text="Seen."))}, self.time)
        self.model = Recorded(RoutedModel({"scripted": script}))

    def put(self, asked: dict[str, Any] = LOOKS, name: str = "clerk") -> tuple[int, bool]:
        agent, is_new = put_agent(
            name,
            asked,
            account_id="acme",
            offer=Offer({"scripted": frozenset({"test"})}),
            reserved=RESERVED,
            store=self.store,
            toolboxes=self.toolboxes,
        )
        return agent.version, is_new

    def delete(self, name: str = "clerk") -> None:
        delete_agent(name, account_id="acme", reserved=RESERVED, store=self.store, clock=self.time)

    def prompt(self, version: int | None = None) -> str:
        return read_agent("clerk", version, account_id="acme", agents=self.agents).prompt

    def submit(self) -> str:
        submitted = submit(
            Task("clerk", "go"),
            account_id="acme",
            idempotency_key=None,
            runs=self.runs,
            agents=self.agents,
            toolboxes=self.toolboxes,
            uploads=self.uploads,
            files=self.files,
            workflow=RecordingWorkflow(),
            clock=self.time,
            chance=self.chance,
        )
        return submitted.run.run_id

    def step(self, run_id: str) -> None:
        """One slice of one step."""
        needs = Needs(
            runs=self.runs,
            slots=self.slots,
            agents=self.agents,
            policies=Policies(),
            workflow=RecordingWorkflow(),
            model=self.model,
            toolboxes=self.toolboxes,
            clock=self.time,
            chance=self.chance,
            crew=self.time,
        )
        advance(run_id, 1, 0, Slice(900, 1), needs=needs)


@pytest.fixture
def house(runs: RunStore, slots: SlotStore, dynamodb: Any, table: str, uploads: UploadStore, files: FileStore) -> House:
    store = Interrupted(dynamodb, table, clock=VirtualTime(), chance=CountedChance())
    return House(runs, slots, store, uploads, files)


def prompting(prompt: str) -> dict[str, Any]:
    return {**LOOKS, "prompt": prompt}


def test_other_content_is_the_next_version_and_the_same_content_the_same_one(house: House) -> None:
    assert house.put() == (1, True)
    assert house.put() == (1, False)
    assert house.put(prompting("Be quick.")) == (2, True)
    assert house.put({**prompting("Be quick."), "budget": {"steps": 50}}) == (2, False)
    assert house.put() == (3, True)
    assert [house.prompt(version) for version in (1, 2, 3)] == ["Be careful.", "Be quick.", "Be careful."]


def test_two_puts_at_once_make_two_versions_and_none_is_lost(house: House) -> None:
    house.put()
    house.store.meanwhile = (lambda: house.put(prompting("The other's.")),)

    assert house.put(prompting("Ours.")) == (3, True)

    assert [house.prompt(version) for version in (2, 3)] == ["The other's.", "Ours."]


def test_two_first_puts_of_the_same_content_at_once_make_one_version(house: House) -> None:
    house.store.meanwhile = (lambda: house.put(),)

    assert house.put() == (1, False)


def test_who_is_overtaken_again_and_again_is_told_to_come_back(house: House) -> None:
    numbers = range(putting.TRIES)
    house.store.meanwhile = tuple(
        each for number in numbers for each in (lambda number=number: house.put(prompting(f"{number}")), lambda: None)
    )

    with pytest.raises(Unavailable):
        house.put()

    assert [house.prompt(number + 1) for number in numbers] == [f"{number}" for number in numbers]


def test_a_deleted_agent_takes_no_new_run_and_comes_back_when_it_is_put_again(house: House) -> None:
    house.put()
    house.delete()
    house.delete()

    with pytest.raises(InvalidInput, match="no agent of that name"):
        house.submit()
    with pytest.raises(NotFound):
        house.prompt()
    assert house.prompt(1) == "Be careful."

    assert house.put() == (1, False)
    assert house.submit()


def test_a_deleted_agent_counts_its_versions_on(house: House) -> None:
    house.put()
    house.delete()

    assert house.put(prompting("Be quick.")) == (2, True)
    assert house.prompt() == "Be quick."


def test_what_was_never_there_cannot_be_deleted(house: House) -> None:
    with pytest.raises(NotFound):
        house.delete()


def test_the_names_of_built_in_agents_are_taken(house: House) -> None:
    for name in RESERVED:
        with pytest.raises(Conflict, match="comes along"):
            house.put(name=name)
        with pytest.raises(Conflict, match="comes along"):
            house.delete(name)


@pytest.mark.parametrize("change", ["put", "delete"])
def test_a_run_keeps_the_version_that_it_began_with(house: House, change: str) -> None:
    house.put()
    run_id = house.submit()
    house.step(run_id)
    if change == "put":
        house.put({**prompting("Be quick."), "tools": [], "permissions": []})
    else:
        house.delete()

    house.step(run_id)

    run, log = house.runs.log(run_id)
    assert run is not None
    assert (run.status, run.agent_version) == (Status.DONE, 1)
    assert [request.prompt for request in house.model.asked] == ["Be careful.", "Be careful."]
    assert [[tool.name for tool in request.tools] for request in house.model.asked] == [["look"], ["look"]]
    assert [event.data["version"] for event in log if event.type is EventType.RUN_ACCEPTED] == [1]


@pytest.mark.parametrize(
    ("asked", "code", "at"),
    [
        ({**LOOKS, "tools": ["look", "leap"]}, "unknown_tool", "tools[1]"),
        ({**LOOKS, "tools": ["pay"], "declared": [PAY]}, "unknown_tool", "tools[0]"),
        ({**LOOKS, "declared": [SIGN, {**PAY, "name": "look"}]}, "tool_name_taken", "declared[1].name"),
        ({**LOOKS, "declared": [{**WIKI, "name": "look"}]}, "tool_name_taken", "declared[0].name"),
        ({**LOOKS, "prompt": ""}, "text_empty", "prompt"),
        ({**LOOKS, "permissions": ["allow look", "allow leap"]}, "invalid_permission", "permissions[1]"),
        (
            {**LOOKS, "permissions": [{"effect": "maybe", "tool": "look"}]},
            "invalid_permission",
            "permissions[0].effect",
        ),
        ({**LOOKS, "declared": [WIKI], "permissions": ["deny wiki__write"]}, "invalid_permission", "permissions[0]"),
        (
            {**LOOKS, "declared": [PAY], "permissions": ["allow pay preapproved"]},
            "invalid_permission",
            "permissions[0].limit",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_kept(
    house: House, asked: dict[str, Any], code: str, at: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        house.put(asked)

    assert (refused.value.code, refused.value.field) == (code, at)
    assert house.store.newest("acme", "clerk") is None


def test_rules_are_kept_however_they_were_written(house: House) -> None:
    lines = ["allow look max 3", "ask pay(crowns<=10)", "deny wiki__*", "allow wiki__search"]
    house.put({**LOOKS, "declared": [PAY, WIKI], "permissions": lines})

    agent = read_agent("clerk", 1, account_id="acme", agents=house.agents)

    assert [permissions.text(grant) for grant in agent.permissions] == lines
    told = permissions.to_data(agent.permissions)
    assert house.put({**LOOKS, "declared": [PAY, WIKI], "permissions": told}) == (1, False)


def test_an_account_has_so_many_agents_and_may_still_change_each(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(putting, "MAX_AGENTS", 2)
    house.put(name="one")
    house.put(name="two")

    with pytest.raises(Conflict) as refused:
        house.put(name="three")
    assert refused.value.code == "too_many_agents"

    assert house.put(prompting("Be quick."), name="two") == (2, True)
    house.delete("one")
    assert house.put(name="three") == (1, True)
