"""One run on a stage: workers that can be killed, the executions that call them, a sweeper, a client who follows, and a
person who answers what is asked, truly, and again if the Lambda that took the answer died.

The executions are played here, state by state as infra/agent_loop.asl.json has them, so that some hundred crashes take
seconds; the stories with real state machines and real SIGKILLs are in tests/stories.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from chalicelib.adapters.aws.payload_store import S3PayloadStore
from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb.audit import DynamoAudit
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.adapters.models.scripted import Turn, Unavailable
from chalicelib.core import approvals, lease, slots
from chalicelib.core.answer import answered
from chalicelib.core.approvals import Decision, Question, Verdict
from chalicelib.core.case import Finding
from chalicelib.core.events import Event, Stamp
from chalicelib.core.permissions import Grant, Ruling
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.tools import Effect
from chalicelib.core.transitions import move
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.examine import TO_END, examine
from chalicelib.usecases.resolve import resolve
from chalicelib.usecases.route import Next
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import tend
from tests.builders import run_id
from tests.conftest import BUCKET
from tests.crash.armed_workflow import ArmedWorkflow
from tests.crash.follower import Follower
from tests.crash.killer import Killed, Killer
from tests.crash.witness import WatchedModel, Witness
from tests.usecases.workshop import RUN_ID, Tool, Workshop, asks, unasked
from tests.virtual_time import CountedChance, VirtualTime

OTHER, OTHER_ENDS = run_id(9), 70.0
"""In a crowded play, the run that has the only slot, and how long it keeps it."""

MARKETS = "The week in three lines. "
LARGE = 10_000
"""Words: more than the table takes."""
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
    mortal: bool = False
    """Whether the Lambda that cancels may die as well."""
    large: bool = False
    """Whether a tool's answer is kept beside the table."""
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
    Play("a large answer", only="look", large=True),
    Play("a cancel", cancel_after=3.0, ends=frozenset({Status.CANCELLED})),
    Play("a canceller who dies", cancel_after=3.0, mortal=True, ends=frozenset({Status.CANCELLED})),
)


def rules(play: Play) -> tuple[Grant, ...]:
    """Everything is let through, but for what a person is asked about."""
    asked = (Grant(Ruling.ALLOW, "send"),) if play.asks else unasked(["send"])
    return (*asked, *unasked(["look", "note", "file"]))


class Stage:
    """Plays one run to its end, killing its worker once on the way."""

    def __init__(self, play: Play, dynamodb: object, table: str, s3: object, killer: Killer) -> None:
        self.play = play
        self.killer = killer
        time = VirtualTime()
        self.calm = self._store(dynamodb, table, s3, time)
        self.witness = Witness(lambda run_id: self.calm.log(run_id)[1])
        self.look = Tool("look", Effect.READ, works=lambda: "seen " * (LARGE if play.large else 1))
        self.note = Tool("note", Effect.KEYED)
        self.file = Tool("file", Effect.IDEMPOTENT)
        self.send = Tool("send", Effect.IRREVERSIBLE)
        payloads = self._payloads(s3, time)
        self.audit = DynamoAudit(dynamodb, table, payloads=payloads, clock=time, chance=CountedChance())  # type: ignore[arg-type]
        tools = [self.look, self.note, self.file, self.send]
        for tool in tools:
            tool.minds = self.witness.tool
        self.shop = Workshop(
            self.calm, self._slots(dynamodb, table, time), time, play.script(), tools, permissions=rules(play)
        )
        if play.crowded:
            self._crowd()
        self.shop.runs = self._store(killer.arm(dynamodb), table, killer.arm(s3), time)
        self.calm_slots, self.shop.slots = self.shop.slots, self._slots(killer.arm(dynamodb), table, time)
        self.shop.model = WatchedModel(self.shop.model, self.witness)
        self.shop.workflow = self.workflow = ArmedWorkflow(killer=killer)
        self.client = Follower(self.calm, time)
        killer.each_call = self.client.poll
        self.tokens = 0
        self.asleep: dict[str, int] = {}
        """Executions by the token that wakes them."""
        self.log_at_the_end: list[Event] = []
        if play.cancel_after is not None:
            self.shop.at(play.cancel_after, self.cancel)

    @staticmethod
    def _payloads(s3: object, time: VirtualTime) -> S3PayloadStore:
        return S3PayloadStore(s3, BUCKET, Retry(time, CountedChance()))  # type: ignore[arg-type]

    def _store(self, client: object, table: str, s3: object, time: VirtualTime) -> DynamoRunStore:
        world: dict[str, Any] = {"payloads": self._payloads(s3, time), "clock": time, "chance": CountedChance()}
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
        """From outside. Who asked and had no answer, since the Lambda died, asks again; then nobody is killed."""
        if self.play.mortal:
            try:
                self.shop.cancel()
                return
            except Killed:
                pass
        armed = self.shop.runs, self.shop.slots
        self.shop.runs, self.shop.slots = self.calm, self.calm_slots
        self.shop.cancel()
        self.shop.runs, self.shop.slots = armed

    def perform(self) -> None:
        """Let executions and sweeper go on until the run has ended."""
        self.workflow.started.append((RUN_ID, 1))
        self._execute(1)
        for _ in range(TICKS):
            if self.run_status.terminal:
                break
            self.shop.time.advance(60)
            self._answer_all()
            self._wake_up()
            for start in self._tick():
                self._execute(start)
            self._wake_up()
        self.client.poll()

    @property
    def run_status(self) -> Status:
        found = self.calm.tail(RUN_ID)
        assert found is not None
        return found[0].status

    @property
    def findings(self) -> list[Finding]:
        """What the doctor has to say of the runs, the slots and the executions, a while later."""
        self.shop.time.advance(TO_END.total_seconds() + 1)
        found, place, more = list[Finding](), None, True
        while more:
            page = examine(
                account_id="acme",
                repair=False,
                limit=10,
                next=place,
                runs=self.calm,
                slots=self.calm_slots,
                audit=self.audit,
                workflow=self.shop.workflow,
                clock=self.shop.time,
                chance=self.shop.chance,
            )
            found += page.findings
            place, more = page.next, page.next is not None
        return found

    @property
    def log(self) -> list[Event]:
        return self.calm.log(RUN_ID)[1]

    def _tick(self) -> list[int]:
        before = len(self.workflow.started)
        of: dict[str, Any] = {"runs": self.shop.runs, "slots": self.shop.slots}
        with suppress(Killed):
            sweep(**of, workflow=self.shop.workflow, clock=self.shop.time, chance=self.shop.chance)
            tend(**of, workflow=self.shop.workflow, clock=self.shop.time)
        begun = self.workflow.started[before:]
        self.workflow.over |= {(run_id, start) for run_id, start in begun if run_id != RUN_ID}
        return [start for run_id, start in begun if run_id == RUN_ID]

    def _execute(self, start: int) -> None:
        """One execution. A killed Lambda ends it, as it does once Step Functions has retried enough."""
        self._play(start)
        if start not in self.asleep.values():
            self.workflow.over.add((RUN_ID, start))

    def _wake_up(self) -> None:
        """Whoever was woken goes on, or finds itself too old."""
        for token in [token for token in self.asleep if token in self.workflow.woken]:
            self._execute(self.asleep.pop(token))

    def _play(self, start: int) -> None:
        lap = 0
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
        token = f"token-{self.tokens}"
        await_answer(RUN_ID, start, token, runs=self.shop.runs, workflow=self.workflow)
        if not approvals.open_in(self.log):
            return True
        self._answer_all()
        if token not in self.workflow.woken:
            self.asleep[token] = start
        return token in self.workflow.woken

    def _answer_all(self) -> None:
        """A person answers whatever is asked, through a Lambda that may die of it."""
        for asked in approvals.open_in(self.log):
            try:
                self._answer(asked)
            except Killed:
                return

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
