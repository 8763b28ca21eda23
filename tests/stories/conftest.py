"""The local cloud with the real package, and agents that play scripts of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from chalicelib import bootstrap
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Silent, Turn, Unavailable
from chalicelib.core import ids
from chalicelib.core.agent import Agent
from chalicelib.core.api_key import Scope
from chalicelib.core.reply import AskedCall
from chalicelib.core.run import Budget
from chalicelib.usecases.make_key import make_key
from infra.local import packaged
from infra.local.cloud import LocalCloud

LOOK_AT_THE_CLOCK = [Turn(calls=(AskedCall("current_time", {"timezone": zone}),)) for zone in ("UTC", "Europe/Paris")]
SCRIPTS: dict[str, Script] = {
    "brief": (Turn(text="All is well."),),
    "twenty": (*(LOOK_AT_THE_CLOCK * 10)[:19], Turn(text="That took a while.")),
    "five": (*LOOK_AT_THE_CLOCK * 2, Turn(text="Five.")),
    "quick": (Turn(text="word " * 50, pace=0.03),),
    "slow": (Turn(text="word " * 400, pace=0.05),),
    "silent": (Turn(text="never", fault=Silent(600)),),
    "down": (Turn(text="never", fault=Unavailable(times=99, retry_after=300)),),
    "long": (Turn(text="considerable " * 3000, pace=0.003),),
}


@dataclass
class Book:
    """An agent for each script."""

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return next((agent for agent in self.all(account_id) if agent.name == name), None)

    def all(self, account_id: str) -> list[Agent]:
        budget = Budget(steps=50, seconds=3600)
        return [Agent(name, "plays", "", f"scripted:{name}", ("current_time",), budget) for name in SCRIPTS]


class Town:
    """A local cloud and a client of it who has every right."""

    def __init__(self, cloud: LocalCloud, account_id: str = "acme") -> None:
        self.cloud = cloud
        self.account_id = account_id
        world = bootstrap.world()
        _, self.key = make_key(
            account_id=account_id,
            name="test",
            scopes=frozenset(Scope),
            keys=world.keys,
            clock=world.clock,
            chance=world.chance,
        )
        self.http = httpx.Client(
            base_url=cloud.url, headers={"Authorization": f"Bearer {self.key}"}, timeout=30, trust_env=False
        )
        self.sfn = cloud.client("stepfunctions")

    def submit(self, agent: str, text: str = "go") -> str:
        answer = self.http.post("/v1/runs", json={"agent": agent, "text": text})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    def poll(self, run_id: str, since: int = -1, wait: int = 20) -> dict[str, Any]:
        answer = self.http.get(f"/v1/runs/{run_id}/events", params={"since": since, "wait": wait})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def follow(
        self, run_id: str, until: Callable[[dict[str, Any]], bool] = lambda event: False
    ) -> list[dict[str, Any]]:
        """The events up to the end, or to the first that fits."""
        seen: list[dict[str, Any]] = []
        while True:
            page = self.poll(run_id, seen[-1]["seq"] if seen else -1)
            for event in page["events"]:
                seen.append(event)
                if until(event):
                    return seen
            if page["done"]:
                return seen

    def cancel(self, run_id: str) -> httpx.Response:
        return self.http.post(f"/v1/runs/{run_id}/cancel", json={"reason": "enough"})

    def arn(self, run_id: str, start: int = 1) -> str:
        machine = str(bootstrap.world().config.state_machine_arn)
        return f"{machine.replace(':stateMachine:', ':execution:')}:{ids.execution_name(run_id, start)}"

    def states_entered(self, run_id: str, start: int = 1) -> list[str]:
        """The states of the run's execution, once it is over, in the order in which they were entered."""
        self.cloud.await_end(self.arn(run_id, start))
        history = self.sfn.get_execution_history(executionArn=self.arn(run_id, start), maxResults=1000)["events"]
        return [event["stateEnteredEventDetails"]["name"] for event in history if "stateEnteredEventDetails" in event]


@contextmanager
def a_town(settings: Mapping[str, str], *, ticking: bool = False) -> Iterator[Town]:
    """A town with the agents that everybody has; without a tick, so that nothing is put right behind a test's back."""
    with LocalCloud(packaged.options(settings, ticking=ticking)) as cloud:
        place = Town(cloud)
        with place.http:
            yield place


def with_scripts() -> None:
    """Give the town an agent for each script, in place of those that everybody has."""
    world = bootstrap.world()
    world.agents = Book()
    world.model = RoutedModel({"scripted": ScriptedModel(SCRIPTS, world.clock)})


OpenTown = Callable[..., Town]


@pytest.fixture
def town() -> Iterator[OpenTown]:
    """Brings a town up in which each script has an agent: `town(STEPS_PER_SLICE="1")`."""
    with ExitStack() as opened:

        def up(**settings: str) -> Town:
            place = opened.enter_context(a_town(settings))
            with_scripts()
            return place

        yield up
