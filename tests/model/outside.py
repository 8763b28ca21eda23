"""Who and what comes in from outside the run's own executions: time, the account's other runs, sweepers, callers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.model.roles import NAMES
from tests.model.state import State, Step

if TYPE_CHECKING:
    from tests.model.world import World

APART = 1000
"""So far apart are the write ids of invocations that may be at work at the same time under one name."""

_DECIDES = {"approve": "approves", "deny": "denies", "retry": "retries"}
_COMES_IN = (("sweep", "sweeps"), ("cancel", "cancels"), ("say", "says"), *_DECIDES.items())
"""Who comes from outside, and how often each still may; whoever decides comes when something is asked."""

_SEVERAL = frozenset({"sweep", "cancel"})
"""Of whom a scenario may have more than one at once."""


def comes_in(world: World, state: State) -> Iterator[tuple[Step, State]]:
    """Every step by which something comes in."""
    left = state.left
    if left.ticks:
        ticked = state._replace(time=state.time + 1, left=left._replace(ticks=left.ticks - 1))
        yield Step("time", "passes"), ticked
    yield from _others(world, state)
    run = world.run(state)
    for role, field_name in _COMES_IN:
        count = getattr(left, field_name)
        wanted = run.asks if role in _DECIDES else not run.status.terminal
        name = _name(world, state, role)
        if count and wanted and name:
            fewer = state._replace(left=left._replace(**{field_name: count - 1}))
            yield Step(name, "comes"), world.joined(fewer, role, offset=count * APART, name=name)


def other_ends(world: World, state: State) -> State:
    """The other run of the account frees its slot, and whoever ended it begins who is in line."""
    held = state.table.held._replace(other=False)
    return world.joined(state._replace(table=state.table._replace(held=held)), "admit", offset=APART * APART)


def _others(world: World, state: State) -> Iterator[tuple[Step, State]]:
    held, left = state.table.held, state.left
    if left.frees and held.other and NAMES["admit"] not in {actor.name for actor in state.actors}:
        fewer = state._replace(left=left._replace(frees=left.frees - 1))
        yield Step("another run", "ends"), other_ends(world, fewer)
    if left.takes and not any(held):
        taken = state.table._replace(held=held._replace(other=True))
        yield Step("another run", "begins"), state._replace(table=taken, left=left._replace(takes=left.takes - 1))


def _name(world: World, state: State, role: str) -> str:
    """What one more of them is called; nothing if there are enough."""
    there, name = {actor.name for actor in state.actors}, NAMES[role]
    names = [name, f"second {name}"][: world.scenario.at_once if role in _SEVERAL else 1]
    return next((each for each in names if each not in there), "")
