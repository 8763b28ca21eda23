"""The loop of one hold on a run: ask what is next, do it, ask again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from chalicelib.core import budget, calls, cancelling, patience, settle
from chalicelib.core.acts import (
    Act,
    AskOutcome,
    Await,
    CallTools,
    Conclude,
    Confirm,
    Expire,
    Finish,
    GiveUpCalls,
    Leave,
    Pause,
    Stop,
    Think,
    ThinkAgain,
)
from chalicelib.core.approvals import Decision, Question
from chalicelib.core.cursor import following
from chalicelib.core.decide import next_act
from chalicelib.core.errors import ModelFault
from chalicelib.core.moments import spelled
from chalicelib.core.run import Trigger
from chalicelib.core.transitions import move
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.crew import Crew
from chalicelib.ports.model import Model
from chalicelib.ports.policy_book import PolicyBook
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.toolbox import Toolboxes
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.call_tools import call_tools
from chalicelib.usecases.gate import Gate, gate_of
from chalicelib.usecases.hold import Hold, Overtaken
from chalicelib.usecases.route import CONTINUE, END, Next, Route, of_unheld
from chalicelib.usecases.think import think

CLOCK = "clock"
"""Who answers a question that nobody else answered."""

OUTCOME_UNKNOWN = "The call was begun, and nobody knows how it ended."

TO_TIDY_UP = timedelta(seconds=15)
"""What a worker keeps of its time to write down where it stands."""


@dataclass(frozen=True, slots=True)
class Slice:
    """How much one invocation does: `seconds` until it is killed, `steps` at most (0 = no limit), and a new model call
    only while `model_call` seconds are left."""

    seconds: float
    steps: int = 0
    model_call: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What carrying a run on takes from the world."""

    runs: RunStore
    slots: SlotStore
    agents: AgentBook
    workflow: Workflow
    model: Model
    toolboxes: Toolboxes
    policies: PolicyBook
    clock: Clock
    chance: Chance
    crew: Crew


class Worker:
    """The loop of one hold on a run: ask what is next, do it, ask again."""

    def __init__(self, hold: Hold, slice: Slice, killed_at: datetime, needs: Needs) -> None:
        self.hold = hold
        self.slice = slice
        self.stop_at = killed_at - TO_TIDY_UP
        self.last_call_at = killed_at - timedelta(seconds=slice.model_call)
        self.needs = needs
        self.steps = 0

    def work(self) -> Route:
        """Go on until the run ends, waits, or the slice is used up."""
        while True:
            try:
                route = self._do_next()
            except Overtaken:
                continue
            if route is not None:
                return route

    def _do_next(self) -> Route | None:
        act = next_act(self.hold.run, self.hold.log, self.hold.clock.now())
        match act:
            case Think() | ThinkAgain():
                return self._think(act)
            case CallTools() | AskOutcome():
                return self._at_the_gate(act)
            case Pause(until):
                return self._pause(until)
            case Await(reason, until):
                return self._wait(reason, until)
            case _:
                return self._write_down(act)

    def _write_down(self, act: Act) -> Route | None:
        """What an act says by itself: nothing is done for it."""
        match act:
            case Finish() | Stop() | Confirm():
                return self._end(act)
            case Leave():
                return END
            case GiveUpCalls() | Conclude():
                for type, data in calls.told(act):
                    self.hold.begin(type, data)
            case Expire(questions):
                for asked in questions:
                    self.hold.resolve(asked, {"decision": Decision.EXPIRED, "by": CLOCK, "note": None})
        return None

    def _think(self, act: Think | ThinkAgain) -> Route | None:
        if self._slice_is_used_up(act):
            self.hold.hand_back()
            return CONTINUE
        if (gate := self.gate) is None:
            return self._no_agent()
        if self._looks_around(gate):
            return None
        self.steps += isinstance(act, Think)
        until = min(self.stop_at, self._time_is_up())
        fault = think(act, self.hold, until, gate=gate, model=self.needs.model)
        return self._after(fault) if fault and not self.hold.cancelling else None

    def _at_the_gate(self, act: CallTools | AskOutcome) -> Route | None:
        if (gate := self.gate) is None:
            return self._no_agent()
        if self.hold.clock.now() >= self.last_call_at:
            self.hold.hand_back()
            return CONTINUE
        if self._looks_around(gate):
            return None
        match act:
            case CallTools(_, states):
                call_tools(states, self.hold, self.stop_at, gate=gate)
            case AskOutcome(unknown):
                for call in unknown:
                    gate.ask(call, Question.OUTCOME, OUTCOME_UNKNOWN, self.hold)
        return None

    def _looks_around(self, gate: Gate) -> bool:
        """Whether the tools had to be asked for first: then what is next is decided anew."""
        if (look := gate.toolbox.pending()) is None:
            return False
        self.hold.beside(look, self.stop_at)
        return True

    def _slice_is_used_up(self, act: Think | ThinkAgain) -> bool:
        begins_another = isinstance(act, Think) and 0 < self.slice.steps <= self.steps
        return begins_another or self.hold.clock.now() >= self.last_call_at

    def _after(self, fault: ModelFault) -> Route | None:
        match patience.after(fault, self.hold.log):
            case patience.Again(pause):
                return self._pause(self.hold.clock.now() + pause)
            case patience.Wait(lasting):
                return self._wait_for_provider(lasting, str(fault))
            case patience.GiveUp():
                return self._fail("model_refused", str(fault))

    def _wait_for_provider(self, lasting: timedelta, detail: str) -> Route:
        return self._wait(patience.PROVIDER, min(self.hold.clock.now() + lasting, self._time_is_up()), detail)

    def _wait(self, reason: str, wake_at: datetime, detail: str | None = None) -> Route:
        self.hold.commit(
            Trigger.WAIT,
            {"for": reason, "until": spelled(wake_at), "detail": detail},
            waiting_for=reason,
            waiting_seq=following(self.hold.tail),
            wake_at=wake_at,
            due_at=wake_at,
        )
        return of_unheld(self.hold.run, self.hold.clock.now())

    def _pause(self, until: datetime) -> Route | None:
        if until >= self.stop_at:
            self.hold.hand_back()
            return Route(Next.WAIT, max(1, int((until - self.hold.clock.now()).total_seconds())))
        self.hold.rest(until)
        return None

    def _end(self, act: Finish | Stop | Confirm) -> Route:
        match act:
            case Finish(text):
                self.hold.commit(Trigger.FINISH, {"output": {"text": text}})
            case Stop(code, detail):
                return self._fail(code, detail)
            case Confirm():
                self.hold.put(cancelling.confirm(self.hold.run, self.hold.log, stamp=self.hold.stamp()))
        return END

    def _fail(self, code: str, detail: str) -> Route:
        stamp = self.hold.stamp()
        data = {"error": {"code": code, "detail": detail}, "unsettled": cancelling.unsettled(self.hold.log)}
        owed = settle.owed(self.hold.run.run_id, self.hold.log, stamp)
        self.hold.put(move(self.hold.run, Trigger.FAIL, tail=self.hold.tail, stamp=stamp, data=data, owed=owed))
        return END

    @cached_property
    def gate(self) -> Gate | None:
        needs = self.needs
        return gate_of(
            self.hold.run, self.hold.log, agents=needs.agents, toolboxes=needs.toolboxes, policies=needs.policies
        )

    def _no_agent(self) -> Route:
        return self._fail("unknown_agent", f"there is no agent {self.hold.run.agent!r} any more")

    def _time_is_up(self) -> datetime:
        return budget.time_is_up(self.hold.run.budget, self.hold.log, self.hold.clock.now())
