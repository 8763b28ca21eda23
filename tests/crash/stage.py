"""One run on a stage: workers that can be killed, the executions that call them, a sweeper, a client who follows, and a
person who answers what is asked, truly, and again if the Lambda that took the answer died.

The executions are played here, state by state as infra/agent_loop.asl.json has them, so that some hundred crashes take
seconds; the stories with real state machines and real SIGKILLs are in tests/stories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ConnectionClosedError

from chalicelib.adapters.dynamodb.audit import DynamoAudit
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.adapters.models.scripted import Turn, Unavailable
from chalicelib.core import approvals, doctor, lease, slots
from chalicelib.core.answer import answered
from chalicelib.core.approvals import Decision, Question, Verdict
from chalicelib.core.events import Event, EventType, Stamp
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.tools import Effect
from chalicelib.core.transitions import move
from chalicelib.ports.model import Model, ModelCall, ModelRequest
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.resolve import resolve
from chalicelib.usecases.route import Next
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import tend
from tests.builders import run_id
from tests.crash.killer import Killed, Killer
from tests.usecases.workshop import RUN_ID, RecordingWorkflow, Tool, Workshop, asks, unasked
from tests.virtual_time import CountedChance, VirtualTime

OTHER, OTHER_ENDS = run_id(9), 70.0
"""In a crowded play, the run that has the only slot, and how long it keeps it."""

MARKETS = "The week in three lines. "
TICKS = 60
"""Minutes after which a run that has not ended is stuck."""


@dataclass(frozen=True)
class Play:
    """A reference run, and what is done to it from outside."""

    name: str
    second: Turn = field(default_factory=lambda: asks("note", text="Noted. "))
    steps: int = 0
    cancel_after: float | None = None
    asks: bool = False
    crowded: bool = False
    ends: frozenset[Status] = frozenset({Status.DONE})

    only: str | None = None
    """The one tool that a shorter run asks for, and nothing else."""

    def script(self) -> tuple[Turn, ...]:
        if self.only is not None:
            return (asks(self.only), Turn(text="All is well."))
        first = Turn(text=MARKETS, pace=0.9, calls=asks("look", "note", "send").calls)
        return (first, self.second, Turn(text="All is well.", pace=0.9))


PLAYS = (
    Play("three steps"),
    Play("a step a slice", steps=1),
    Play("a wait", second=Turn(text="Noted. ", calls=asks("note").calls, fault=Unavailable(times=3))),
    Play("an approval", asks=True),
    Play("a slot", crowded=True),
    Play("a cancel", cancel_after=3.0, ends=frozenset({Status.CANCELLED})),
)


def rules(play: Play) -> tuple[Grant, ...]:
    """Everything is let through, but for what a person is asked about."""
    asked = (Grant(Ruling.ALLOW, "send"),) if play.asks else unasked(["send"])
    return (*asked, *unasked(["look", "note", "file"]))


class Stage:
    """Plays one run to its end, killing its worker once on the way."""

    def __init__(self, play: Play, dynamodb: object, table: str, payloads: object, killer: Killer) -> None:
        self.play = play
        self.killer = killer
        time = VirtualTime()
        self.calm = self._store(dynamodb, table, payloads, time)
        self.look = Tool("look", Effect.READ)
        self.note = Tool("note", Effect.KEYED)
        self.file = Tool("file", Effect.IDEMPOTENT)
        self.send = Tool("send", Effect.IRREVERSIBLE)
        self.audit = DynamoAudit(dynamodb, table, payloads=payloads, clock=time, chance=CountedChance())  # type: ignore[arg-type]
        tools = [self.look, self.note, self.file, self.send]
        self.shop = Workshop(
            self.calm, self._slots(dynamodb, table, time), time, play.script(), tools, permissions=rules(play)
        )
        if play.crowded:
            self._crowd()
        self.shop.runs = self._store(killer.arm(dynamodb), table, payloads, time)
        self.calm_slots, self.shop.slots = self.shop.slots, self._slots(killer.arm(dynamodb), table, time)
        self.model = CountedModel(self.shop.model, self.calm)
        self.shop.model = self.model
        self.shop.workflow = ArmedWorkflow(killer=killer)
        self.client = Client(self.calm, time)
        killer.each_call = self.client.poll
        self.tokens = 0
        self.asleep: int | None = None
        self.log_at_the_end: list[Event] = []
        if play.cancel_after is not None:
            self.shop.at(play.cancel_after, self.cancel)

    def _store(self, client: object, table: str, payloads: object, time: VirtualTime) -> DynamoRunStore:
        world: dict[str, Any] = {"payloads": payloads, "clock": time, "chance": CountedChance()}
        return DynamoRunStore(client, table, cap=1 if self.play.crowded else slots.CAP, **world)  # type: ignore[arg-type]

    @staticmethod
    def _slots(client: object, table: str, time: VirtualTime) -> DynamoSlotStore:
        return DynamoSlotStore(client, table, clock=time, chance=CountedChance())  # type: ignore[arg-type]

    @property
    def _other(self) -> Run:
        found = self.calm.tail(OTHER)
        assert found is not None
        return found[0]

    def _crowd(self) -> None:
        """Another run has the only slot. What it does is not what is tried here, and nobody kills it."""
        self.shop.submit(OTHER)
        taking = lease.take(self._other, tail=0, now=self.shop.time.now(), write_id="other-1")
        self.calm.commit(taking)
        self.shop.at(OTHER_ENDS, lambda: self._end(taking.after))

    def _end(self, other: Run) -> None:
        """The other run ends, and whoever ended it dies before it begins who is in line."""
        stamp = Stamp(self.shop.time.now(), other.attempt, "other-2")
        self.calm.commit(move(other, Trigger.FINISH, tail=1, stamp=stamp, data={"output": {"text": ""}}))

    def cancel(self) -> None:
        """From outside: through stores of its own, which nobody kills."""
        armed = self.shop.runs, self.shop.slots
        self.shop.runs, self.shop.slots = self.calm, self.calm_slots
        self.shop.cancel()
        self.shop.runs, self.shop.slots = armed

    def perform(self) -> None:
        """Let executions and sweeper go on until the run has ended."""
        self._execute(1)
        for _ in range(TICKS):
            if self.run_status.terminal:
                break
            self.shop.time.advance(60)
            if self._answered() and self.asleep is not None:
                self._execute(self.asleep)
            for start in self._tick():
                self._execute(start)
        self.client.poll()

    @property
    def run_status(self) -> Status:
        found = self.calm.tail(RUN_ID)
        assert found is not None
        return found[0].status

    @property
    def findings(self) -> tuple[doctor.Finding, ...]:
        """What the doctor has to say."""
        case = self.audit.case(RUN_ID)
        assert case is not None
        return doctor.examine(case, self.shop.time.now())

    @property
    def log(self) -> list[Event]:
        return self.calm.log(RUN_ID)[1]

    def _tick(self) -> list[int]:
        before = len(self.shop.workflow.started)
        try:
            of: dict[str, Any] = {"runs": self.shop.runs, "slots": self.shop.slots}
            sweep(**of, workflow=self.shop.workflow, clock=self.shop.time, chance=self.shop.chance)
            tend(**of, workflow=self.shop.workflow, clock=self.shop.time)
        except Killed:
            return []
        return [start for _, start in self.shop.workflow.started[before:]]

    def _execute(self, start: int) -> None:
        """One execution. A killed Lambda ends it, as it does once Step Functions has retried enough."""
        lap, self.asleep = 0, None
        try:
            while True:
                route = self.shop.advance(start=start, lap=lap, steps=self.play.steps)
                lap += 1
                if route.next is Next.END or (route.next is Next.ASK and not self._await_answer(start)):
                    return
                if not answered(self.shop.run):
                    self.shop.time.advance(route.seconds)
        except Killed:
            return

    def _await_answer(self, start: int) -> bool:
        """Whether the execution goes on: it was answered and woken, or what it waits for is the time."""
        self.tokens += 1
        await_answer(RUN_ID, start, f"token-{self.tokens}", runs=self.shop.runs, workflow=self.shop.workflow)
        if not approvals.open_in(self.log):
            return True
        self.asleep = start
        return self._answered()

    def _answered(self) -> bool:
        """Whether the person's answers woke an execution."""
        woken = len(self.shop.workflow.woken)
        for asked in approvals.open_in(self.log):
            try:
                self._answer(asked)
            except Killed:
                return False
        return len(self.shop.workflow.woken) > woken

    def _answer(self, asked: Event) -> None:
        if asked.data["question"] == Question.CALL:
            decision = Decision.APPROVE
        else:
            decision = Decision.HAPPENED if self.send.made else Decision.RETRY
        resolve(
            RUN_ID,
            asked.data["approval_id"],
            Verdict(decision, asked.data["digest"]),
            account_id="acme",
            actor="a person",
            runs=self.shop.runs,
            agents=self.shop.needs().agents,
            toolboxes=self.shop.needs().toolboxes,
            policies=self.shop.policies,
            workflow=self.shop.workflow,
            clock=self.shop.time,
            chance=self.shop.chance,
        )


@dataclass
class ArmedWorkflow(RecordingWorkflow):
    """Its calls are calls to AWS as well. One that lost its answer is made again, as by botocore, for nothing."""

    killer: Killer = field(default_factory=Killer)

    def start(self, run_id: str, start: int) -> None:
        self._call("start_execution", self.started, (run_id, start))

    def wake(self, token: str) -> None:
        self._call("send_task_success", self.woken, token)

    def _call(self, name: str, known: list[Any], told: object) -> None:
        try:
            self.killer.call(name, lambda: known.append(told), {})
        except ConnectionClosedError:
            self.killer.call(name, lambda: None, {})


class Client:
    """Polls with its cursor, as a phone would, and keeps what it was given."""

    def __init__(self, runs: DynamoRunStore, time: VirtualTime) -> None:
        self._runs = runs
        self._time = time
        self.seen: list[Event] = []
        self.done = False

    def poll(self) -> None:
        more = True
        while more and not self.done:
            cursor = self.seen[-1].seq if self.seen else -1
            answer = read_events(RUN_ID, cursor, 100, 0, account_id="acme", runs=self._runs, clock=self._time)
            self.seen += answer.events
            self.done, more = answer.done, answer.has_more

    @property
    def text(self) -> str:
        """What stands on its screen: deltas, less what a reset took back."""
        shown: dict[int, str] = {}
        for event in self.seen:
            if event.type is EventType.TEXT_DELTA:
                shown[event.seq] = event.data["text"]
            elif event.type is EventType.STEP_RESET:
                shown = {seq: text for seq, text in shown.items() if seq < event.data["from_seq"]}
        return "".join(shown.values())


class CountedModel:
    """A model that notes which calls were made, and whether their step had its reply already."""

    def __init__(self, model: Model, runs: DynamoRunStore) -> None:
        self._model = model
        self._runs = runs
        self.calls: list[int] = []
        self.repeated: list[int] = []

    def call(self, request: ModelRequest) -> ModelCall:
        replied = [event.data["step"] for event in self._runs.log(RUN_ID)[1] if event.type is EventType.MODEL_REPLIED]
        self.calls.append(request.step)
        self.repeated += [request.step] if request.step in replied else []
        return self._model.call(request)
