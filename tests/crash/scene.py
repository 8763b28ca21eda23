"""Pawl behind its public doors, with executions played by hand and calls to AWS that fail when a test says so.

Nothing is replaced between the doors and the table but time, chance, the model and the tools, and the machine that
calls the Lambdas: an execution is played state by state as infra/agent_loop.asl.json has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from app import app
from chalicelib import bootstrap
from chalicelib.adapters.aws.payload_store import S3PayloadStore
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Turn, Unavailable
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.bootstrap import World
from chalicelib.config import Config
from chalicelib.core import errors, ids
from chalicelib.core.agent import Agent
from chalicelib.core.api_key import Scope
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.run import Budget, Run
from chalicelib.core.tools import Effect
from chalicelib.handlers import clock, workflow
from chalicelib.usecases.make_key import make_key
from tests.conftest import BUCKET
from tests.crash.armed_workflow import ArmedWorkflow
from tests.crash.killer import Killed, Killer, Moment
from tests.crash.stage import LARGE
from tests.crash.witness import WatchedModel, Witness
from tests.handlers.door import Door
from tests.handlers.test_workflow import Context
from tests.usecases.workshop import Tool, asks, unasked
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    import pytest
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

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
        asks("dig", "note", text="Then. "),
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

    def _call(self, name: str, known: list[Any], told: object) -> None:
        try:
            super()._call(name, [] if told in known else known, told)
        except ClientError as fault:
            raise errors.WorkflowUnavailable("throttled") from fault


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
    """A world whose every call to DynamoDB and S3 can be struck."""

    def __init__(self, client: Any, s3: Any, table: str, time: VirtualTime) -> None:
        super().__init__(
            Config(
                table=table,
                bucket=BUCKET,
                state_machine_arn="arn",
                steps_per_slice=1,
                runs_at_once=RUNS_AT_ONCE,
                ticket_secret="t" * 32,
            )
        )
        self.clock, self.crew, self.chance = time, time, CountedChance()
        self._client, self._bucket = client, S3PayloadStore(s3, BUCKET, Retry(time, self.chance))

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
        grants = (Grant(Ruling.ALLOW, "send"), *unasked(["look", "note", "dig"]))
        budget = Budget(steps=20, seconds=86_400)
        return [
            Agent(name, "plays", "", f"scripted:{name}", self.tools, budget, permissions=grants) for name in SCRIPTS
        ]


class Scene:
    """The doors, the executions behind them, and time."""

    def __init__(self, dynamodb: DynamoDBClient, s3: S3Client, table: str, patch: pytest.MonkeyPatch) -> None:
        self.time, self.killer = VirtualTime(), Saboteur()
        self.killer.struck = True
        calm: dict[str, Any] = {"clock": self.time, "chance": CountedChance()}
        self.payloads = S3PayloadStore(s3, BUCKET, Retry(self.time, CountedChance()))
        self.calm = DynamoRunStore(dynamodb, table, payloads=self.payloads, **calm)
        self.world = Place(self.killer.arm(dynamodb), self.killer.arm(s3), table, self.time)
        self.witness = Witness(lambda run_id: self.calm.log(run_id)[1])
        self.workflow = self.world.workflow = Executions(killer=self.killer)
        tools = [
            Tool("look", Effect.READ),
            Tool("dig", Effect.READ, works=lambda: "deep " * LARGE),
            Tool("note", Effect.KEYED),
            Tool("send", Effect.IRREVERSIBLE),
        ]
        for tool in tools:
            tool.minds = self.witness.tool
        boxed = [tool.in_the_box() for tool in tools]
        self.world.agents = Book(tuple(tool.name for tool in tools))
        self.world.toolboxes = Shared(FunctionToolbox(boxed))
        scripted = RoutedModel({"scripted": ScriptedModel(SCRIPTS, self.time)})
        self.world.model = WatchedModel(scripted, self.witness)
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
        """What a job met in an outage is raised as what it is; the tick tells of all of it together."""
        try:
            clock.tick({}, Context(60))
        except ExceptionGroup as met:
            if met.split(errors.Unavailable)[1] is not None:
                raise
            raise errors.Unavailable("the tick met an outage") from met

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
