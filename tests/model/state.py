"""What the world is made of: values only, so that states can be compared, and the small steps between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from tests.model.puppet import Surroundings
from tests.model.table import Call, Result, Rules, Table


class Faults(NamedTuple):
    """What may still go wrong, or come in from outside: how often each."""

    ticks: int = 0
    crashes: int = 0
    lost: int = 0
    delayed: int = 0
    twins: int = 0
    bugs: int = 0
    sweeps: int = 0
    put_backs: int = 0
    cancels: int = 0
    says: int = 0
    approves: int = 0
    denies: int = 0
    retries: int = 0
    frees: int = 0
    takes: int = 0


class Execution(NamedTuple):
    """One Step Functions execution. `ids` counts the write ids that its invocations used, `asks` its task tokens, and
    `laps`, where the scenario bounds them, how often it went on to `Advance`."""

    start: int
    phase: str
    until: datetime | None = None
    token: str = ""
    asks: int = 0
    ids: int = 0
    laps: int = 0


class Actor(NamedTuple):
    """Somebody at work: `at` is the position in the cast."""

    name: str
    at: int


class State(NamedTuple):
    """All that there is. Equal states have equal futures."""

    table: Table
    actors: tuple[Actor, ...]
    executions: tuple[Execution, ...]
    network: tuple[Call, ...]
    effects: tuple[str, ...]
    time: int
    left: Faults


class Step(NamedTuple):
    """Something that happened: who, what, and the answer. `call` is None for what is not a call."""

    who: str
    what: str
    call: Call | None = None
    result: Result = ()


@dataclass(frozen=True)
class Scenario:
    """A small world to search: its model and tools, what may go wrong, and how fine the search looks."""

    name: str
    around: Surroundings
    faults: Faults
    more: Faults
    """What may go wrong in the long search."""
    tick: float = 31.0
    """How far time jumps. The default is just more than a lease."""
    skew: float = 0.0
    """How far the clock of the first execution's worker is behind."""
    steps_per_slice: int = 0
    seconds: int = 30_000
    executions: int = 1
    """0: the start of the submitted run was lost."""
    at_once: int = 1
    """So many sweepers, and so many cancellers, can be at work at the same time."""
    laps: int = 0
    """After so many laps the history of an execution is full, and Step Functions ends it; 0: it never is."""
    torn_reads: bool = False
    """A Query reads its items one after the other, and something can be written in between."""
    hole: bool = False
    """A worker can be stopped between its last look at the clock and the effect."""
    late_effects: bool = False
    """So that an effect can come after its outcome was called unknown."""
    unaided: bool = False
    """The end must come without a sweeper, and without a wait running out."""
    sure: bool = False
    """Nobody dies and nothing lapses, so that the outcome of every call is known."""
    starts: int = 3
    """Executions of the run that are looked at."""
    rules: Rules = field(default_factory=Rules)


def execution_of(state: State, start: int) -> Execution | None:
    return next((each for each in state.executions if each.start == start), None)


def moved(state: State, execution: Execution) -> State:
    executions = tuple(execution if each.start == execution.start else each for each in state.executions)
    return state._replace(executions=executions)


def without(state: State, actor: Actor) -> State:
    return state._replace(actors=tuple(each for each in state.actors if each != actor))


def replaced(state: State, actor: Actor, instead: Actor) -> State:
    return state._replace(actors=tuple(sorted(instead if each == actor else each for each in state.actors)))
