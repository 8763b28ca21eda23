"""The search: every state that can be reached, breadth first, so that the first trace found is a shortest one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chalicelib.core.answer import answered
from chalicelib.core.events import EventType
from chalicelib.core.run import Run, Status
from tests.model.outside import other_ends
from tests.model.promises import Broken, check_slots, check_table
from tests.model.state import Execution, Faults, Scenario, State, Step
from tests.model.world import World

TICKS_TO_THE_END = 80
STEPS_TO_THE_END = 600
LONGEST_TOLD = 30
NO_FAULTS = Faults()


@dataclass
class Trace:
    """How a promise came to be broken, or how a state was reached."""

    steps: list[Step]
    broken: str = ""

    def __str__(self) -> str:
        lines = [f"{number:3}  {step.who:13} {step.what}" for number, step in enumerate(self.steps, 1)]
        if len(lines) > LONGEST_TOLD:
            lines[LONGEST_TOLD:] = [f"     ... {len(lines) - LONGEST_TOLD} steps more of the same kind"]
        return "\n".join([*lines, f"     => {self.broken}"] if self.broken else lines)


@dataclass
class Searched:
    """What a search found. `flaw` is the shortest trace that breaks a promise.

    `ends` counts the states in which the run is over and nobody acts; `exhausted` says that all that may go wrong did
    so on some way.
    """

    scenario: str
    states: int
    steps: int
    ends: dict[str, int]
    exhausted: bool
    flaw: Trace | None = None


@dataclass
class Search:
    """One scenario's search. It looks at `at_most` so many states, the nearest first."""

    scenario: Scenario
    at_most: int = 10_000_000
    _came_from: dict[State, tuple[State, Step] | None] = field(default_factory=dict)
    _checked: set[tuple[int, int]] = field(default_factory=set)
    _ends_well: set[State] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.world = World(self.scenario)

    def run(self) -> Searched:
        """Look at every state, until a promise breaks."""
        first = self.world.first()
        self._came_from[first] = None
        level, steps, ends = [first], 0, dict[str, int]()
        while level and len(self._came_from) < self.at_most:
            reached: list[State] = []
            for state in level:
                try:
                    for step, after in self._looked_at(state, ends):
                        steps += 1
                        if after not in self._came_from:
                            self._came_from[after] = (state, step)
                            reached.append(after)
                except _Found as found:
                    return self._result(steps, ends, found.trace)
            level = reached
        return self._result(steps, ends, None)

    def _result(self, steps: int, ends: dict[str, int], flaw: Trace | None) -> Searched:
        exhausted = any(state.left == NO_FAULTS for state in self._came_from)
        return Searched(self.scenario.name, len(self._came_from), steps, ends, exhausted, flaw)

    def _looked_at(self, state: State, ends: dict[str, int]) -> Iterator[tuple[Step, State]]:
        """The state's steps, if it is as it should be. Raises `_Found`."""
        run = self.world.run(state)
        try:
            self._check(state)
            if not state.actors and run.status.terminal:
                ends[run.status] = ends.get(run.status, 0) + 1
            if len(state.executions) > self.scenario.starts:
                return
            yield from self.world.successors(state)
        except _FromHere as broken:
            raise _Found(Trace([*self.trace(state), *broken.steps], str(broken))) from broken
        except Broken as broken:
            raise _Found(Trace(self.trace(state), str(broken))) from broken

    def _check(self, state: State) -> None:
        self._check_table(state)
        check_slots(self.world.run(state), *state.table.held)
        self._check_end(state)

    def _check_table(self, state: State) -> None:
        key = (state.table.run, state.table.log)
        if key in self._checked:
            return
        log = self.world.shelf.log(state.table.log)
        check_table(self.world.run(state), log)
        if self.scenario.sure and any(event.type is EventType.TOOL_UNKNOWN for event in log):
            raise Broken("nobody knows how a call ended, though nobody died")
        self._checked.add(key)

    def _check_end(self, state: State) -> None:
        """From here, if nothing more goes wrong and everybody does his part, the run comes to its end."""
        state = state._replace(left=NO_FAULTS)
        passed: list[State] = []
        steps = [Step("", "and then, without any further fault:")]
        try:
            while state not in self._ends_well:
                passed.append(state)
                self._check_table(state)
                if len(passed) > STEPS_TO_THE_END:
                    raise Broken("the world never comes to rest")
                going = self._goes_on(state)
                if going is None:
                    break
                steps.append(going[0])
                state = going[1]
        except Broken as broken:
            raise _FromHere(str(broken), steps) from broken
        self._ends_well.update(passed)

    def _goes_on(self, state: State) -> tuple[Step, State] | None:
        """The next step of a world in which everybody gets his turn; None at the end."""
        world = self.world
        if state.network:
            return world.arrives(state, 0, state.network[0])
        for actor in state.actors:
            call = world.cast[actor.at].call
            assert call is not None, "who is through has left"
            for going in world.answers(state, actor, call):
                return going
            if call.kind == "think":
                return next(world.dies(state, actor))
        if state.table.held.other:
            return Step("another run", "ends"), other_ends(world, state)
        return self._time_passes(state)

    def _time_passes(self, state: State) -> tuple[Step, State] | None:
        world, run = self.world, self.world.run(state)
        if run.status.terminal and not any(self._lasts(each, run) for each in state.executions):
            return None
        if self.scenario.unaided and run.status is Status.WAITING and not answered(run):
            return None
        if state.time > TICKS_TO_THE_END:
            raise Broken(f"the run is {run.status} for ever" + self._standing(state))
        state = state._replace(time=state.time + 1)
        for execution in state.executions:
            for _, after in world.moves(state, execution):
                if not (self.scenario.unaided and execution.phase == "asks"):
                    state = after
        if not self.scenario.unaided and self._is_due(run, state):
            state = world.swept(state)
        return Step("time", "passes"), state

    def _lasts(self, execution: Execution, run: Run) -> bool:
        """A stale execution that waits for an answer may sleep on until its question times out."""
        return execution.phase != "ended" and not (self.scenario.unaided and execution.start < run.start)

    def _is_due(self, run: Run, state: State) -> bool:
        return run.due_at is not None and run.due_at <= self.world.now(state)

    def _standing(self, state: State) -> str:
        open_ones = [f"execution {each.start} {each.phase}" for each in state.executions if each.phase != "ended"]
        return f" ({', '.join(open_ones) or 'no execution'})"

    def tables(self) -> set[object]:
        """What the table can come to hold, but for the ids of the writes."""
        return {
            (run.status, run.attempt, run.start, run.lease_until, tuple((event.type, event.attempt) for event in log))
            for state in self._came_from
            for run, log in [(self.world.run(state), self.world.shelf.log(state.table.log))]
        }

    def ways_to_the_end(self) -> Iterator[tuple[State, Trace]]:
        """The shortest way to each way of ending, once everything was looked at."""
        seen = set()
        for state in self._came_from:
            run, log = self.world.run(state), self.world.shelf.log(state.table.log)
            told = (state.left, run.status, tuple(event.type for event in log))
            over = run.status.terminal and not state.actors and not state.network
            if over and told not in seen:
                seen.add(told)
                yield state, Trace(self.trace(state))

    def trace(self, state: State) -> list[Step]:
        """How the state is reached."""
        steps: list[Step] = []
        while (before := self._came_from[state]) is not None:
            state, step = before
            steps.append(step)
        return steps[::-1]


class _FromHere(Broken):
    """A promise breaks on the fair way to the end."""

    def __init__(self, broken: str, steps: list[Step]) -> None:
        super().__init__(broken)
        self.steps = steps


class _Found(Exception):  # noqa: N818 - carries the result out of the loops
    def __init__(self, trace: Trace) -> None:
        super().__init__(str(trace))
        self.trace = trace
