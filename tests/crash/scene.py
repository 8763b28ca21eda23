"""Pawl behind its public doors, with executions played by hand and calls to AWS that fail when a test says so.

Nothing is replaced between the doors and the table but time, chance, the model and the tools, and the machine that
calls the Lambdas: an execution is played state by state as infra/agent_loop.asl.json has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from app import app
from chalicelib import bootstrap
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Turn, Unavailable
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core import errors, ids
from chalicelib.core.agent import Agent
from chalicelib.core.api_key import Scope
from chalicelib.core.events import Event, EventType
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.run import Budget, Run
from chalicelib.core.tools import Effect, Invocation
from chalicelib.handlers import clock, workflow
from chalicelib.ports.model import Model, ModelCall, ModelRequest
from chalicelib.usecases.make_key import make_key
from tests.crash.killer import Killed, Killer, Moment
from tests.crash.stage import ArmedWorkflow
from tests.handlers.door import Door
from tests.handlers.test_workflow import Context
from tests.usecases.workshop import Tool, asks, unasked
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    import pytest
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.ports.payload_store import PayloadStore

RUNS_AT_ONCE = 1
SCRIPTS: dict[str, Script] = {
    "sender": (
        asks("look", "note", "send", text="The week. "),
        asks("note", text="Noted. "),
        Turn(text="All is well."),
    ),
    "waiter": (Turn(text="Here at last.", fault=Unavailable(times=2, retry_after=40)),),
    "talker": (
        asks("look", text="First. "),
        asks("look", "note", text="Then. "),
        Turn(text="Slowly, at last.", pace=0.9),
    ),
}
OUTAGE = "every call from there on is throttled"
Fault = tuple[int, Moment | str]
"""Which of the next calls to AWS, counted from one, and what becomes of it."""


class Saboteur(Killer):
    """A killer that strikes whenever it is told to, and can do worse: take DynamoDB away."""

    outage: bool = False

    @contextmanager
    def about(self, fault: Fault | None) -> Iterator[None]:
        """Strike within the block, if it makes so many calls. Whoever is struck ends the block, and no more."""
        within, how = fault or (0, Moment.BEFORE)
        self.outage, self.struck = how == OUTAGE, fault is None
        self.at, self.moment = len(self.calls) + within, Moment.BEFORE if how == OUTAGE else Moment(how)
        try:
            yield
        except Killed:
            return
        except (errors.Unavailable, errors.WorkflowUnavailable):
            if not self.outage:
                raise
        finally:
            self.outage, self.struck = False, True

    def call(self, name: str, method: Callable[..., Any], request: dict[str, Any]) -> Any:
        if self.outage and len(self.calls) + 1 >= self.at:
            raise ClientError({"Error": {"Code": "ThrottlingException"}}, name)
        return super().call(name, method, request)


class Executions(ArmedWorkflow):
    """Step Functions: it starts an execution once for each name, and refuses while there is an outage."""

    def __init__(self, killer: Killer) -> None:
        super().__init__(killer=killer)
        self.over: set[tuple[str, int]] = set()

    def _call(self, name: str, known: list[Any], told: object) -> None:
        try:
            super()._call(name, [] if told in known else known, told)
        except ClientError as fault:
            raise errors.WorkflowUnavailable("throttled") from fault

    def running(self, limit: int, after: str | None) -> tuple[list[tuple[str, int]], str | None]:
        return [one for one in self.started if one not in self.over], None


@dataclass
class Execution:
    """Where one execution stands: about to advance, about to store its token, or asleep until a time or its token."""

    run_id: str
    start: int
    lap: int = 0
    asking: bool = False
    token: str | None = None
    until: datetime | None = None


class Place(World):
    """A world whose every call to DynamoDB can be struck."""

    def __init__(self, client: Any, table: str, payloads: PayloadStore, time: VirtualTime) -> None:
        super().__init__(
            Config(
                table=table,
                bucket="payloads",
                state_machine_arn="arn",
                steps_per_slice=1,
                runs_at_once=RUNS_AT_ONCE,
                ticket_secret="t" * 32,
            )
        )
        self._client, self._bucket = client, payloads
        self.clock, self.crew, self.chance = time, time, CountedChance()

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        client: DynamoDBClient = self._client
        return client

    @cached_property
    def _payloads(self) -> PayloadStore:
        return self._bucket


@dataclass
class Book:
    """An agent for each script; every tool is free, but for the one that can't be taken back."""

    tools: tuple[str, ...]

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return next((agent for agent in self.all(account_id) if agent.name == name), None)

    def all(self, account_id: str) -> list[Agent]:
        grants = (Grant(Ruling.ALLOW, "send"), *unasked(["look", "note"]))
        budget = Budget(steps=20, seconds=36_000)
        return [
            Agent(name, "plays", "", f"scripted:{name}", self.tools, budget, permissions=grants) for name in SCRIPTS
        ]


@dataclass
class Witness:
    """What the model and the tools were asked, and whether they had been asked it to the end before."""

    calm: Callable[[str], list[Event]]
    made: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By run, call and tool."""
    repeated: list[str] = field(default_factory=list)

    def tool(self, invocation: Invocation) -> None:
        run_id, call = invocation.run_id, invocation.call
        self.made[run_id, call.call_id, call.name] += 1
        self._look(run_id, EventType.TOOL_FINISHED, "call_id", call.call_id)

    def model(self, request: ModelRequest) -> None:
        self._look(request.run_id, EventType.MODEL_REPLIED, "step", request.step)

    def sent(self, run_id: str, call_id: str) -> bool:
        return self.made[run_id, call_id, "send"] > 0

    def _look(self, run_id: str, told: EventType, name: str, value: object) -> None:
        if any(event.type is told and event.data[name] == value for event in self.calm(run_id)):
            self.repeated.append(f"{run_id} {told} {value}")


@dataclass
class WatchedModel:
    """A model whose calls are seen."""

    model: Model
    seen: Callable[[ModelRequest], None]

    def call(self, request: ModelRequest) -> ModelCall:
        self.seen(request)
        return self.model.call(request)


class Scene:
    """The doors, the executions behind them, and time."""

    def __init__(self, dynamodb: DynamoDBClient, table: str, payloads: PayloadStore, patch: pytest.MonkeyPatch) -> None:
        self.time, self.killer = VirtualTime(), Saboteur()
        self.killer.struck = True
        self.calm = DynamoRunStore(dynamodb, table, payloads=payloads, clock=self.time, chance=CountedChance())
        self.world = Place(self.killer.arm(dynamodb), table, payloads, self.time)
        self.witness = Witness(lambda run_id: self.calm.log(run_id)[1])
        self.workflow = self.world.workflow = Executions(self.killer)
        tools = [("look", Effect.READ), ("note", Effect.KEYED), ("send", Effect.IRREVERSIBLE)]
        boxed = [Tool(name, effect, minds=self.witness.tool).in_the_box() for name, effect in tools]
        self.world.agents = Book(tuple(name for name, _ in tools))
        self.world.toolboxes = Shared(FunctionToolbox(boxed))
        scripted = RoutedModel({"scripted": ScriptedModel(SCRIPTS, self.time)})
        self.world.model = WatchedModel(scripted, self.witness.model)
        patch.setattr(bootstrap, "world", lambda: self.world)
        _, secret = make_key(
            "test",
            frozenset(Scope),
            account_id="acme",
            keys=self.world.keys,
            clock=self.time,
            chance=self.world.chance,
        )
        self.door = Door(app, secret)
        self._known: dict[tuple[str, int], Execution] = {}
        self._tokens = 0

    @property
    def executions(self) -> list[Execution]:
        """Those that run."""
        for name in self.workflow.started:
            self._known.setdefault(name, Execution(*name))
        return [one for name, one in self._known.items() if name not in self.workflow.over]

    def run(self, run_id: str) -> Run:
        found = self.calm.tail(run_id)
        assert found is not None
        return found[0]

    def play(self, one: Execution) -> bool:
        """One state of the execution, or one more try at it; False where it sleeps."""
        if one.asking:
            self._ask(one)
        elif one.until and self.time.now() < one.until and one.token not in self.workflow.woken:
            return False
        else:
            self._advance(one)
        return True

    def again(self, one: Execution) -> None:
        """Step Functions invokes a slice twice; what the second one answers reaches nobody."""
        workflow.advance({"run_id": one.run_id, "start": one.start, "lap": one.lap}, Context(900))

    def give_up(self, one: Execution) -> None:
        """The execution has tried often enough. It is over, whatever becomes of what it does last."""
        self.workflow.over.add((one.run_id, one.start))
        told = {"run_id": one.run_id, "start": one.start, "error": {"Error": "Lambda.Unknown", "Cause": "killed"}}
        workflow.abandon(told, Context(90))
        workflow.execution_ended({"detail": {"name": ids.execution_name(one.run_id, one.start)}}, Context(90))

    def tick(self) -> None:
        clock.tick({}, Context(60))

    def _advance(self, one: Execution) -> None:
        route = workflow.advance({"run_id": one.run_id, "start": one.start, "lap": one.lap}, Context(900))
        one.lap, one.token, one.until = route["lap"], None, None
        if route["next"] == "end":
            self.workflow.over.add((one.run_id, one.start))
        elif route["next"] in ("wait", "ask"):
            one.asking = route["next"] == "ask"
            one.until = self.time.now() + timedelta(seconds=route["seconds"])

    def _ask(self, one: Execution) -> None:
        self._tokens += 1
        one.token = f"token-{self._tokens}"
        told = {"run_id": one.run_id, "start": one.start, "lap": one.lap, "token": one.token}
        workflow.await_answer(told, Context(90))
        one.asking = False
