"""Carry a run on: take it, do what is next until a slice is used up, and say where its execution goes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from chalicelib.core import budget, cancelling, lease, patience, settle
from chalicelib.core.agent import Agent
from chalicelib.core.cursor import following
from chalicelib.core.decide import (
    CallTools,
    Confirm,
    Finish,
    GiveUpCalls,
    Leave,
    Pause,
    Stop,
    Think,
    ThinkAgain,
    next_act,
)
from chalicelib.core.errors import Collision, LeaseLost, ModelFault, RunMoved
from chalicelib.core.events import Event, EventType
from chalicelib.core.reply import ToolCall
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.transitions import move
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.crew import Crew
from chalicelib.ports.model import Model
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.toolbox import Toolboxes
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.call_tools import call_tools
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.hold import Hold, Overtaken
from chalicelib.usecases.restart import restart
from chalicelib.usecases.route import A_MOMENT, CONTINUE, END, Next, Route, of_unheld
from chalicelib.usecases.think import think

logger = logging.getLogger(__name__)

LAPS_PER_EXECUTION = 1_500
"""A lap is at most 14 history events (Advance 5, Route 2, a wait for an answer 7); an execution may have 25,000."""

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
    agents: AgentBook
    workflow: Workflow
    model: Model
    toolboxes: Toolboxes
    clock: Clock
    chance: Chance
    crew: Crew


def advance(run_id: str, start: int, lap: int, slice: Slice, *, needs: Needs) -> Route:
    """Do a slice of the run's work. An older start than the run's touches nothing."""
    killed_at = needs.clock.now() + timedelta(seconds=slice.seconds)
    run, log = needs.runs.log(run_id)
    if run is None or run.start != start or run.status.terminal:
        return END
    if lap >= LAPS_PER_EXECUTION:
        restart(run, runs=needs.runs, workflow=needs.workflow, clock=needs.clock)
        return END
    now = needs.clock.now()
    if run.status is Status.CANCELLING and not lease.held(run, now):
        confirm(run_id, runs=needs.runs, clock=needs.clock, chance=needs.chance)
        return A_MOMENT
    if not lease.may_take(run, now):
        return of_unheld(run, now)
    return _take_and_work(run, log, slice, killed_at, needs)


def _take_and_work(run: Run, log: list[Event], slice: Slice, killed_at: datetime, needs: Needs) -> Route:
    taking = lease.take(run, tail=log[-1].seq, now=needs.clock.now(), write_id=needs.chance.write_id())
    try:
        needs.runs.commit(taking)
    except (Collision, RunMoved):
        return A_MOMENT
    hold = Hold(
        taking.after,
        [*log, taking.event],
        runs=needs.runs,
        clock=needs.clock,
        chance=needs.chance,
        crew=needs.crew,
    )
    try:
        return _Worker(hold, slice, killed_at, needs).work()
    except LeaseLost as lost:
        # What this worker still had in hand is late: it is told of here, and nowhere in the run.
        told = {"action": "advance", "run_id": run.run_id, "attempt": taking.after.attempt, "late": True}
        logger.warning("the hold was lost: %s", lost, extra=told)
        return A_MOMENT


class _Worker:
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
            case CallTools(_, calls):
                return self._call_tools(calls)
            case GiveUpCalls(calls):
                for call in calls:
                    self.hold.begin(EventType.TOOL_UNKNOWN, {"call_id": call.call_id, "name": call.name})
            case Pause(until):
                return self._pause(until)
            case Finish() | Stop() | Confirm():
                return self._end(act)
            case Leave():
                return END
        return None

    def _think(self, act: Think | ThinkAgain) -> Route | None:
        if self._slice_is_used_up(act):
            self.hold.hand_back()
            return CONTINUE
        if (agent := self.agent) is None:
            return self._no_agent()
        self.steps += isinstance(act, Think)
        until = min(self.stop_at, self._time_is_up())
        toolbox = self.needs.toolboxes.of(self.hold.run.account_id, agent)
        fault = think(act, self.hold, until, agent=agent, model=self.needs.model, toolbox=toolbox)
        return self._after(fault) if fault and not self.hold.cancelling else None

    def _call_tools(self, calls: tuple[ToolCall, ...]) -> Route | None:
        if (agent := self.agent) is None:
            return self._no_agent()
        toolbox = self.needs.toolboxes.of(self.hold.run.account_id, agent)
        call_tools(calls, self.hold, self.stop_at, toolbox=toolbox)
        return None

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
        wake_at = min(self.hold.clock.now() + lasting, self._time_is_up())
        self.hold.commit(
            Trigger.WAIT,
            {"for": "provider", "until": wake_at.isoformat(), "detail": detail},
            waiting_for="provider",
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
    def agent(self) -> Agent | None:
        """The run's agent in the version that it began with."""
        run = self.hold.run
        return self.needs.agents.find(run.account_id, run.agent, run.agent_version)

    def _no_agent(self) -> Route:
        return self._fail("unknown_agent", f"there is no agent {self.hold.run.agent!r} any more")

    def _time_is_up(self) -> datetime:
        return budget.time_is_up(self.hold.run.budget, self.hold.log, self.hold.clock.now())
