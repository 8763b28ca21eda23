"""A trace of the model, made once more against a real store: the same calls in the same order, the same answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chalicelib.core.change import Change
from chalicelib.core.cursor import unbroken
from chalicelib.core.errors import Collision, LeaseLost, RunMoved
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.run_store import RunStore
from tests.model.explore import Trace
from tests.model.roles import RUN_ID
from tests.model.table import LOST, MOVED, OK, Call, Result, Shelf
from tests.model.world import World

_TRACED_BY_THE_ADAPTER = frozenset({"hand back", "raise start"})
"""Calls whose write id the adapter makes itself: made once more from here, they are other writes."""


def can_be_replayed(trace: Trace) -> bool:
    """Whether no call of these kinds is made twice."""
    return not any(
        step.call and step.call.kind in _TRACED_BY_THE_ADAPTER and (step.who == "network" or "lost" in step.what)
        for step in trace.steps
    )


def replay(trace: Trace, world: World, store: RunStore) -> tuple[Run, list[Event]]:
    """The run and its log as the store then has them. Raises AssertionError at the first answer that differs."""
    shelf, first = world.shelf, world.first()
    store.create(world.run(first), shelf.log(first.table.log)[0], None)
    for number, step in enumerate(trace.steps, 1):
        if step.call is None or step.call.kind not in _CALLS:
            continue
        answer = _CALLS[step.call.kind](step.call, shelf, store)
        assert _bare(answer) == _bare(_in_words(step.result, shelf)), f"step {number}: {step.who} {step.what}"
    run, log = store.log(RUN_ID)
    assert run is not None
    return run, log


def _bare(answer: object) -> object:
    """Without the times that decide nothing: the model takes runs that differ in them for one."""
    return bare(answer) if isinstance(answer, Run) else answer


def bare(run: Run) -> Run:
    """The run without the times that are only recorded."""
    return replace(run, first_token_at=None, ended_at=None)


def _append(call: Call, shelf: Shelf, store: RunStore) -> object:
    return _answer(lambda: store.append(_any_run(shelf), shelf.events[call.args[0]]))


def _commit(call: Call, shelf: Shelf, store: RunStore) -> object:
    before, after, events, guards = call.args
    *owed, event = (shelf.events[each] for each in events)
    change = Change(shelf.runs[before], shelf.runs[after], event, guards, owed[0] if owed else None)
    return _answer(lambda: store.commit(change))


def _renew(call: Call, shelf: Shelf, store: RunStore) -> object:
    return _answer(lambda: store.renew(shelf.runs[call.args[0]]))


def _hand_back(call: Call, shelf: Shelf, store: RunStore) -> object:
    return _answer(lambda: store.hand_back(shelf.runs[call.args[0]]))


def _raise_start(call: Call, shelf: Shelf, store: RunStore) -> object:
    return _answer(lambda: store.raise_start(shelf.runs[call.args[0]], call.args[1]))


def _keep_token(call: Call, shelf: Shelf, store: RunStore) -> object:
    return _answer(lambda: store.keep_token(shelf.runs[call.args[0]], call.args[1]))


def _events(call: Call, shelf: Shelf, store: RunStore) -> object:
    return store.log(RUN_ID, call.args[0])[1]


def _run(call: Call, shelf: Shelf, store: RunStore) -> object:
    found = store.tail(RUN_ID)
    return found and found[0]


_CALLS = {
    "append": _append,
    "commit": _commit,
    "renew": _renew,
    "hand back": _hand_back,
    "raise start": _raise_start,
    "keep token": _keep_token,
    "events": _events,
    "run": _run,
}


def _any_run(shelf: Shelf) -> Run:
    """An append needs of the run only whose log it is."""
    return shelf.runs[0]


def _answer(call: Callable[[], object]) -> object:
    try:
        return call()
    except Collision as collision:
        return ("collision", collision.found.seq, collision.found.write_id)
    except RunMoved:
        return "the run moved"
    except LeaseLost:
        return "the lease is lost"


def _in_words(result: Result, shelf: Shelf) -> object:
    """The model's answer, as `_answer` gives the store's."""
    if result == OK:
        return None
    if result in (MOVED, LOST):
        return "the run moved" if result == MOVED else "the lease is lost"
    match result[0]:
        case "collision":
            found = shelf.events[result[1]]
            return ("collision", found.seq, found.write_id)
        case "events":
            return list(unbroken(shelf.log(result[1]), result[2]))
        case _:
            return shelf.runs[result[1]]
