"""A place to let workers loose on a run: the real store, a scripted model, tools that count, virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Turn
from chalicelib.adapters.tools.toolbox import Function, FunctionToolbox, Shared
from chalicelib.core.agent import Agent
from chalicelib.core.change import record
from chalicelib.core.events import OUTSIDE, Event, EventType, Stamp
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.policy import Policy
from chalicelib.core.reply import AskedCall, ToolCall
from chalicelib.core.run import Budget, Run, Status
from chalicelib.core.tools import Answers, Effect, Invocation, ToolResult, ToolSpec
from chalicelib.core.transitions import status_told
from chalicelib.ports.model import Model
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Execution
from chalicelib.usecases.advance import advance
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.route import Route
from chalicelib.usecases.work import Needs, Slice
from tests.virtual_time import EPOCH, CountedChance, VirtualTime

RUN_ID = "run_00000000000000000000000001"


@dataclass
class RecordingWorkflow:
    """A `Workflow` that starts nothing and remembers everything."""

    started: list[tuple[str, int]] = field(default_factory=list)
    woken: list[str] = field(default_factory=list)
    refuses: Exception | None = None
    began_at: datetime = EPOCH

    def start(self, run_id: str, start: int) -> None:
        if self.refuses:
            raise self.refuses
        self.started.append((run_id, start))

    def wake(self, token: str) -> None:
        self.woken.append(token)

    def running(self, limit: int, after: str | None) -> tuple[list[Execution], str | None]:
        first = int(after or 0)
        rest = [Execution(*one, self.began_at) for one in self.started[first : first + limit]]
        return rest, str(first + limit) if first + limit < len(self.started) else None


@dataclass
class OneAgent:
    """An `AgentBook` of one."""

    agent: Agent

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return self.agent if name == self.agent.name else None

    def all(self, account_id: str) -> list[Agent]:
        return [self.agent]


@dataclass
class Tool:
    """A tool that remembers its calls; `works` is what it does."""

    name: str = "look"
    effect: Effect = Effect.READ
    timeout: float = 30.0
    works: Callable[[], str] = lambda: "seen"
    answers: Answers = Answers.TOOL
    hears: Callable[[ToolCall], object] = lambda call: None
    minds: Callable[[Invocation], object] = lambda invocation: None
    results: Callable[[], ToolResult] | None = None
    made: list[str] = field(default_factory=list)

    def in_the_box(self) -> tuple[ToolSpec, Function]:
        def function(invocation: Invocation) -> str | ToolResult:
            self.made.append(self.name)
            self.hears(invocation.call)
            self.minds(invocation)
            return self.results() if self.results else self.works()

        spec = ToolSpec(self.name, "looks", {"type": "object"}, self.effect, self.timeout, answers=self.answers)
        return spec, function


def asks(*names: str, text: str = "") -> Turn:
    """A turn that asks for tools."""
    return Turn(text=text, calls=tuple(AskedCall(name, {}) for name in names))


def unasked(names: Iterable[str]) -> tuple[Grant, ...]:
    """Rules that let every call of these tools pass."""
    return tuple(Grant(Ruling.ALLOW, name, calls=1000, preapproved=True) for name in names)


class Policies:
    """A `PolicyBook` with one policy for everybody."""

    def __init__(self) -> None:
        self.standing = Policy()

    def policy(self, account_id: str) -> Policy:
        return self.standing

    def replace(self, account_id: str, policy: Policy) -> Policy:
        self.standing = policy
        return policy


class Workshop:
    """One run, and whoever works on it."""

    def __init__(
        self,
        runs: RunStore,
        slots: SlotStore,
        time: VirtualTime,
        script: Script,
        tools: Iterable[Tool] = (),
        budget: Budget | None = None,
        permissions: tuple[Grant, ...] | None = None,
        accepted: Mapping[str, Any] | None = None,
    ) -> None:
        self.runs = runs
        self.slots = slots
        self.time = time
        self.chance = CountedChance()
        self.workflow = RecordingWorkflow()
        self.tools = {tool.name: tool for tool in tools}
        boxed = [tool.in_the_box() for tool in self.tools.values()]
        names = tuple(spec.name for spec, _ in boxed)
        self.agent = Agent(
            name="demo",
            description="a test's",
            prompt="Be brief.",
            model="scripted:test",
            tools=names,
            budget=budget or Budget(10, 3600),
            permissions=permissions if permissions is not None else unasked(names),
        )
        self.model: Model = RoutedModel({"scripted": ScriptedModel({"test": script}, self.time)})
        self.toolbox = FunctionToolbox(boxed)
        self.policies = Policies()
        self.accepted = {"text": "go", **(accepted or {})}
        self.submit()

    def submit(self, run_id: str = RUN_ID) -> None:
        run = Run(
            run_id=run_id,
            account_id="acme",
            agent="demo",
            status=Status.PENDING,
            budget=self.agent.budget,
            created_at=self.time.now(),
            start=1,
            due_at=self.time.now() + timedelta(seconds=60),
        )
        stamp = Stamp(self.time.now(), OUTSIDE, self.chance.write_id())
        self.runs.create(run, record(EventType.RUN_ACCEPTED, self.accepted, tail=-1, stamp=stamp), None)

    def needs(self) -> Needs:
        return Needs(
            runs=self.runs,
            slots=self.slots,
            agents=OneAgent(self.agent),
            workflow=self.workflow,
            model=self.model,
            toolboxes=Shared(self.toolbox),
            policies=self.policies,
            clock=self.time,
            chance=self.chance,
            crew=self.time,
        )

    def advance(self, *, start: int = 1, lap: int = 0, seconds: float = 900, steps: int = 0) -> Route:
        return advance(RUN_ID, start, lap, Slice(seconds, steps), needs=self.needs())

    def cancel(self, reason: str | None = "enough") -> Run:
        return cancel(
            RUN_ID,
            account_id="acme",
            actor="key_1",
            reason=reason,
            runs=self.runs,
            slots=self.slots,
            workflow=self.workflow,
            clock=self.time,
            chance=self.chance,
        )[0]

    def say(self, text: str) -> None:
        """A message from outside, appended like any writer's."""
        run, last = self.found()
        stamp = Stamp(self.time.now(), OUTSIDE, self.chance.write_id())
        self.runs.append(run, record(EventType.MESSAGE_ADDED, {"text": text}, tail=last.seq, stamp=stamp))

    def found(self) -> tuple[Run, Event]:
        found = self.runs.tail(RUN_ID)
        assert found is not None
        return found

    @property
    def run(self) -> Run:
        return self.found()[0]

    @property
    def log(self) -> list[Event]:
        """The log, which must have no hole and imply the run's status."""
        run, events = self.runs.log(RUN_ID)
        assert run is not None
        assert [event.seq for event in events] == [*range(len(events))]
        assert status_told(events) is run.status
        return events

    def told(self, *types: EventType) -> list[Event]:
        return [event for event in self.log if event.type in types]

    @property
    def words(self) -> list[str]:
        return [str(event.type) for event in self.log]

    def at(self, seconds: float, do: Callable[[], object]) -> None:
        """Do something when so much time has passed, while the worker waits."""

        def work() -> None:
            self.time.sleep(seconds)
            do()

        self.time.begin(work)

    def after(self, seconds: float, result: str) -> Callable[[], str]:
        """What a slow tool does."""

        def works() -> str:
            self.time.sleep(seconds)
            return result

        return works
