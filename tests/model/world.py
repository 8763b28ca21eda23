"""The world around the table: executions, workers, sweepers, callers, the network and time; what can come next in it.

One action is one call to AWS taking effect, or one fault. Everything that decides is the shipped code (`puppet`); what
is modelled here is what it runs on: Step Functions, Lambda, EventBridge, the SDK's retries, and clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.core.change import record
from chalicelib.core.cursor import START
from chalicelib.core.events import OUTSIDE, EventType, Stamp
from chalicelib.core.run import Budget, Run, Status
from chalicelib.usecases.advance import LAPS_PER_EXECUTION
from chalicelib.usecases.route import Next, Route
from tests.model.call_promises import check_arrival, check_call, check_effect
from tests.model.cast import Cast, Role
from tests.model.outside import APART, comes_in
from tests.model.promises import Broken
from tests.model.roles import ACCOUNT, NAMES, ROLES, RUN_ID
from tests.model.state import (
    Actor,
    Execution,
    Scenario,
    State,
    Step,
    execution_of,
    moved,
    replaced,
    without,
)
from tests.model.table import NOON, OK, WRITES, Call, Held, Result, Shelf, Table
from tests.model.telling import told


class World:
    """The scenario's states, and the steps between them."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.shelf = Shelf(scenario.rules)
        self.cast = Cast(self.shelf, scenario.around, ROLES)
        immediate = set() if scenario.torn_reads else {"events beyond", "run behind", "event before"}
        immediate |= set() if scenario.around.crowded else {"held"}
        self._immediate = immediate | {"think"} | (set() if scenario.hole else {"effect"})

    def first(self) -> State:
        """A run that was submitted a moment ago."""
        due = NOON + timedelta(seconds=60)
        run = Run(
            run_id=RUN_ID,
            account_id=ACCOUNT,
            agent="demo",
            status=Status.PENDING,
            budget=Budget(steps=10, seconds=self.scenario.seconds),
            created_at=NOON,
            start=1,
            due_at=due,
        )
        event = record(EventType.RUN_ACCEPTED, {"text": "go"}, tail=START, stamp=Stamp(NOON, OUTSIDE, "submit"))
        log = self.shelf.logs.number((self.shelf.events.number(event),))
        table = Table(self.shelf.runs.number(run), log, held=Held(other=self.scenario.around.crowded))
        state = State(table, (), (), (), (), 0, self.scenario.faults)
        return self._started(state, 1) if self.scenario.executions else state

    def now(self, state: State, who: str = "") -> datetime:
        late = self.scenario.skew if who in ("worker 1", "old worker 1") else 0.0
        return NOON + timedelta(seconds=state.time * self.scenario.tick - late)

    def run(self, state: State) -> Run:
        return self.shelf.runs[state.table.run]

    # What can happen

    def successors(self, state: State) -> Iterator[tuple[Step, State]]:
        """Every step that can be taken next. Raises `Broken` if one breaks a promise by itself."""
        for actor in state.actors:
            yield from self._acts(state, actor)
        for number, call in enumerate(state.network):
            yield self.arrives(state, number, call)
        for execution in state.executions:
            yield from self.moves(state, execution)
        yield from comes_in(self, state)

    def _acts(self, state: State, actor: Actor) -> Iterator[tuple[Step, State]]:
        call = self.cast[actor.at].call
        assert call is not None, "who is through has left"
        yield from self.answers(state, actor, call)
        left = state.left
        if left.crashes:
            yield from self.dies(state._replace(left=left._replace(crashes=left.crashes - 1)), actor)
        if left.lost and call.kind in WRITES:
            after, result = self._takes_effect(state, actor, call)
            lost = after._replace(left=left._replace(lost=left.lost - 1))
            yield Step(actor.name, f"{told(self.shelf, call)}: the answer is lost", call, result), lost
        if left.delayed and call.kind in WRITES:
            sent = state._replace(network=(*state.network, call), left=left._replace(delayed=left.delayed - 1))
            yield Step(actor.name, f"{told(self.shelf, call)}: a copy is under way"), sent
        if left.twins and actor.name.startswith("worker"):
            yield self._has_a_twin(state, actor)
        if left.bugs and actor.name.startswith("worker"):
            yield self._has_a_bug(state, actor)

    def answers(self, state: State, actor: Actor, call: Call) -> Iterator[tuple[Step, State]]:
        """The actor's call takes effect and is answered: `take` can have two answers, a fatal `think` has none."""
        if call.kind == "take":
            there, until = call.args
            results: list[Result] = [("item",)] if there else []
            if self.now(state, actor.name) >= until:
                results.append(("quiet",))
            for result in results:
                yield Step(actor.name, result[0], call, result), self._answered(state, actor, result)
        elif call.kind != "think":
            after, result = self._takes_effect(state, actor, call)
            yield Step(actor.name, told(self.shelf, call, result), call, result), self._answered(after, actor, result)

    def _takes_effect(self, state: State, actor: Actor, call: Call) -> tuple[State, Result]:
        self._check(state, actor, call)
        match call.kind:
            case "start":
                return self._started(state, call.args[0]), OK
            case "wake":
                return self._woken(state, call.args[0]), OK
            case "thread" | "think":
                return state, OK
            case "effect":
                return state._replace(effects=(*state.effects, call.args[0])), OK
        table, result = self.shelf.apply(call, state.table)
        state = state._replace(table=table)
        if call.kind == "commit" and result == OK and not self.scenario.rules.one_transaction:
            late = tuple(Call("append", (event,)) for event in call.args[2])
            state = state._replace(network=(*state.network, *late))
        return state, result

    def _check(self, state: State, actor: Actor, call: Call) -> None:
        try:
            check_call(self.shelf, state.table, call, self.cast[actor.at], self.now(state, actor.name))
            if call.kind == "effect":
                check_effect(self.shelf, state.table, call.args[0], state.effects, self.scenario)
        except Broken as broken:
            raise Broken(f"{actor.name}, {told(self.shelf, call)}: {broken}") from broken

    def _answered(self, state: State, actor: Actor, result: Result) -> State:
        """The actor with its answer, gone on to the next call that others could come before."""
        at = self.cast.go_on(actor.at, result, self.now(state, actor.name))
        while (call := self.cast[at].call) is not None and call.kind in self._immediate:
            if call.kind == "think" and self.scenario.around.poison:
                break
            state, result = self._takes_effect(state, Actor(actor.name, at), call)
            at = self.cast.go_on(at, result, self.now(state, actor.name))
        if call is not None:
            return replaced(state, actor, Actor(actor.name, at))
        return self._through(without(state, actor), Actor(actor.name, at))

    def _through(self, state: State, actor: Actor) -> State:
        """The actor is through; what its execution does next."""
        position = self.cast[actor.at]
        execution = execution_of(state, position.role[1]) if len(position.role) > 1 else None
        if execution is None or actor.name.startswith("old"):
            return state
        if position.role[0] == "abandon":
            return moved(state, execution._replace(phase="ended"))
        if position.role[0] != "advance":
            return state
        return self._routed(state, execution._replace(ids=position.ids), position.outcome)

    def _routed(self, state: State, execution: Execution, route: Route) -> State:
        now = self.now(state)
        until = now + timedelta(seconds=route.seconds)
        match route.next:
            case Next.CONTINUE:
                return self._goes_round(state, execution)
            case Next.WAIT:
                return moved(state, execution._replace(phase="waits"))
            case Next.ASK:
                return self._asks(state, execution, until)
            case Next.END:
                return moved(state, execution._replace(phase="ended", until=None, token=""))

    def _asks(self, state: State, execution: Execution, until: datetime) -> State:
        token = f"token {execution.start}.{execution.asks}"
        asking = execution._replace(phase="asks", until=until, token=token, asks=execution.asks + 1)
        return self.joined(moved(state, asking), "await answer", (execution.start, token))

    def _goes_round(self, state: State, execution: Execution) -> State:
        """To `Advance` once more, if its history has room for that."""
        if not self.scenario.laps:
            return self._advances(state, execution)
        execution = execution._replace(laps=execution.laps + 1)
        if execution.laps > self.scenario.laps:
            return moved(state, execution._replace(phase="ended", until=None, token=""))
        return self._advances(state, execution)

    def _advances(self, state: State, execution: Execution) -> State:
        state = moved(state, execution._replace(phase="advances", until=None, token=""))
        lap = LAPS_PER_EXECUTION if execution.laps and execution.laps == self.scenario.laps else 0
        args = (execution.start, self.scenario.steps_per_slice, lap)
        return self.joined(state, "advance", args, execution.ids)

    def joined(self, state: State, role: str, args: Role = (), offset: int = 0, name: str = "") -> State:
        """With somebody more at work: in that role, and at its first call."""
        name = name or NAMES[role] + (f" {args[0]}" if args else "")
        at = self.cast.begin((role, *args), name, offset, self.now(state, name))
        return state._replace(actors=tuple(sorted((*state.actors, Actor(name, at)))))

    def _started(self, state: State, start: int) -> State:
        if execution_of(state, start) is not None:
            return state
        execution = Execution(start, "advances")
        state = state._replace(executions=tuple(sorted((*state.executions, execution))))
        return self._advances(state, execution)

    def _woken(self, state: State, token: str) -> State:
        for execution in state.executions:
            if execution.phase == "asks" and execution.token == token:
                return self._goes_round(state, execution)
        return state

    # What can go wrong

    def dies(self, state: State, actor: Actor) -> Iterator[tuple[Step, State]]:
        """A Lambda dies. Step Functions invokes it again, or gives up and the execution fails."""
        position = self.cast[actor.at]
        gone = without(state, actor)
        execution = execution_of(state, position.role[1]) if len(position.role) > 1 else None
        if execution is None or position.role[0] == "put back" or actor.name.startswith("old"):
            yield Step(actor.name, "dies"), gone
            return
        execution = execution._replace(ids=max(execution.ids, position.ids))
        ended = moved(gone, execution._replace(phase="ended", until=None, token=""))
        if position.role[0] == "advance":
            yield Step(actor.name, "dies, and is invoked again"), self._advances(gone, execution)
        yield Step(actor.name, "dies, and its execution with it"), ended

    def _has_a_twin(self, state: State, actor: Actor) -> tuple[Step, State]:
        """Step Functions invokes the same slice once more, and the first invocation goes on unheard."""
        left = state.left._replace(twins=state.left.twins - 1)
        old = Actor(f"old {actor.name}", actor.at)
        state = replaced(state._replace(left=left), actor, old)
        position = self.cast[actor.at]
        execution = execution_of(state, position.role[1])
        assert execution is not None
        twin = self._advances(state, execution._replace(ids=position.ids + APART))
        return Step(actor.name, "is invoked again while it works"), twin

    def _has_a_bug(self, state: State, actor: Actor) -> tuple[Step, State]:
        """`Advance` raises something that nobody foresaw; its execution abandons the run."""
        left = state.left._replace(bugs=state.left.bugs - 1)
        position = self.cast[actor.at]
        execution = execution_of(state, position.role[1])
        assert execution is not None
        state = without(state._replace(left=left), actor)
        state = moved(state, execution._replace(phase="abandons", ids=position.ids))
        return Step(actor.name, "raises KeyError"), self.joined(state, "abandon", (execution.start,))

    def arrives(self, state: State, number: int, call: Call) -> tuple[Step, State]:
        """A copy of a write arrives late, and nobody hears its answer."""
        check_arrival(self.shelf, state.table, call)
        rest = state.network[:number] + state.network[number + 1 :]
        table, result = self.shelf.apply(call, state.table)
        return Step("network", told(self.shelf, call, result), call, result), state._replace(table=table, network=rest)

    # What happens by itself

    def moves(self, state: State, execution: Execution) -> Iterator[tuple[Step, State]]:
        who = f"execution {execution.start}"
        if execution.phase == "waits":
            yield Step(who, "has waited"), self._goes_round(state, execution)
        if execution.phase == "asks" and self._over(state, execution):
            yield Step(who, "has waited for an answer long enough"), self._goes_round(state, execution)
        if execution.phase == "ended" and state.left.put_backs and not self.run(state).status.terminal:
            left = state.left._replace(put_backs=state.left.put_backs - 1)
            told = self.joined(state._replace(left=left), "put back", (execution.start,), left.put_backs * APART)
            yield Step(who, "is told to have ended"), told

    def swept(self, state: State) -> State:
        """The minute's tick, when it is due."""
        return self.joined(state, "sweep", offset=(APART + state.time) * APART)

    def _over(self, state: State, execution: Execution) -> bool:
        return execution.until is not None and self.now(state) >= execution.until
