"""A trace of the model, made once more against a real store: the same calls in the same order, the same answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from chalicelib.core import lease
from chalicelib.core.change import Change, record
from chalicelib.core.cursor import START, unbroken
from chalicelib.core.errors import Collision, LeaseLost, NoSlot, RunMoved
from chalicelib.core.events import OUTSIDE, Event, EventType, Stamp
from chalicelib.core.run import Budget, Run, Slot, Status, Trigger
from chalicelib.core.transitions import move
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from tests.model.explore import Trace
from tests.model.roles import ACCOUNT, RUN_ID
from tests.model.table import LOST, MOVED, NO_SLOT, NOON, OK, Call, Held, Result, Shelf
from tests.model.world import World

SLOTS = 1
"""So many runs of the account may be at work at once, in a world where that matters."""


class GivenChance:
    """A `Chance` that says the write id that it was given: what is sent again goes under its first one."""

    def __init__(self) -> None:
        self.next = ""

    def bytes(self, count: int) -> bytes:
        return bytes(count)

    def write_id(self) -> str:
        return self.next


@dataclass
class Replay:
    """A trace, and the stores that it is made once more on. `chance` is theirs too."""

    world: World
    runs: RunStore
    slots: SlotStore
    chance: GivenChance

    def __post_init__(self) -> None:
        self.shelf: Shelf = self.world.shelf
        self._others = Others(self.runs)

    def run(self, trace: Trace) -> tuple[Run, list[Event]]:
        """The run and its log as the store then has them. Raises AssertionError at the first answer that differs."""
        first = self.world.first()
        self.runs.create(self.world.run(first), self.shelf.log(first.table.log)[0], None)
        if first.table.held.other:
            self._others.begin()
        for number, step in enumerate(trace.steps, 1):
            if step.who == "another run":
                self._others.begin() if step.what == "begins" else self._others.end()
            elif step.call is not None and step.call.kind in _CALLS:
                answer = _CALLS[step.call.kind](step.call, self)
                expected = _in_words(step.call, step.result, self.shelf)
                assert _bare(answer) == _bare(expected), (
                    f"step {number}: {step.who} {step.what}; the store says: {answer}"
                )
        run, log = self.runs.log(RUN_ID)
        assert run is not None
        return run, log


class Others:
    """The account's other runs, one at a time: each is at work until it ends."""

    def __init__(self, runs: RunStore) -> None:
        self._runs = runs
        self._numbers = count(1)

    def begin(self) -> None:
        """One more is at work."""
        run = Run(
            run_id=f"run_other{next(self._numbers)}",
            account_id=ACCOUNT,
            agent="demo",
            status=Status.PENDING,
            budget=Budget(steps=1, seconds=60),
            created_at=NOON,
            start=1,
            due_at=NOON,
        )
        stamp = Stamp(NOON, OUTSIDE, "other")
        self._runs.create(run, record(EventType.RUN_ACCEPTED, {"text": "go"}, tail=START, stamp=stamp), None)
        taking = lease.take(run, tail=0, now=NOON, write_id="other takes")
        self._runs.commit(taking)
        self._at_work = taking.after

    def end(self) -> None:
        """It ends, and is not at work any more."""
        stamp = Stamp(NOON, self._at_work.attempt, "other ends")
        self._runs.commit(move(self._at_work, Trigger.FINISH, tail=1, stamp=stamp, data={"output": {"text": ""}}))


def _bare(answer: object) -> object:
    """Without the times that decide nothing: the model takes runs that differ in them for one."""
    return bare(answer) if isinstance(answer, Run) else answer


def bare(run: Run) -> Run:
    """The run without the times that are only recorded."""
    return replace(run, first_token_at=None, ended_at=None)


def _append(call: Call, on: Replay) -> object:
    return _answer(lambda: on.runs.append(_any_run(on.shelf), on.shelf.events[call.args[0]]))


def _commit(call: Call, on: Replay) -> object:
    before, after, events, guards = call.args
    *owed, event = (on.shelf.events[each] for each in events)
    change = Change(on.shelf.runs[before], on.shelf.runs[after], event, guards, owed[0] if owed else None)
    return _answer(lambda: on.runs.commit(change))


def _renew(call: Call, on: Replay) -> object:
    return _answer(lambda: on.runs.renew(on.shelf.runs[call.args[0]]))


def _hand_back(call: Call, on: Replay) -> object:
    run, on.chance.next = call.args
    return _answer(lambda: on.runs.hand_back(on.shelf.runs[run]))


def _raise_start(call: Call, on: Replay) -> object:
    run, due_at, on.chance.next = call.args
    return _answer(lambda: on.runs.raise_start(on.shelf.runs[run], due_at))


def _line_up(call: Call, on: Replay) -> object:
    return _answer(lambda: on.runs.line_up(on.shelf.runs[call.args[0]]))


def _keep_token(call: Call, on: Replay) -> object:
    return _answer(lambda: on.runs.keep_token(on.shelf.runs[call.args[0]], call.args[1]))


def _free(call: Call, on: Replay) -> object:
    freed = on.slots.free(ACCOUNT, RUN_ID, on.shelf.runs[call.args[0]])
    return None if freed else _TOLD[MOVED]


def _held(call: Call, on: Replay) -> object:
    found = on.slots.slots(ACCOUNT)
    return Held(bool(found.holders - {RUN_ID}), RUN_ID in found.holders, RUN_ID in found.resuming)


def _line(call: Call, on: Replay) -> object:
    return [run.run_id for run in on.slots.line(ACCOUNT, 10)]


def _events(call: Call, on: Replay) -> object:
    return on.runs.log(RUN_ID, call.args[0])[1]


def _run(call: Call, on: Replay) -> object:
    found = on.runs.tail(RUN_ID)
    return found and found[0]


_CALLS: dict[str, Callable[[Call, Replay], object]] = {
    "append": _append,
    "commit": _commit,
    "renew": _renew,
    "hand back": _hand_back,
    "raise start": _raise_start,
    "line up": _line_up,
    "keep token": _keep_token,
    "free": _free,
    "held": _held,
    "line": _line,
    "events": _events,
    "run": _run,
}


def _any_run(shelf: Shelf) -> Run:
    """An append needs of the run only whose log it is."""
    return shelf.runs[0]


_TOLD = {MOVED: "the run moved", LOST: "the lease is lost", NO_SLOT: "no slot"}


def _answer(call: Callable[[], object]) -> object:
    try:
        return call()
    except Collision as collision:
        return ("collision", collision.found.seq, collision.found.write_id)
    except RunMoved:
        return _TOLD[MOVED]
    except LeaseLost:
        return _TOLD[LOST]
    except NoSlot:
        return _TOLD[NO_SLOT]


def _in_words(call: Call, result: Result, shelf: Shelf) -> object:
    """The model's answer, as `_answer` gives the store's."""
    if result == OK:
        return None
    if result in _TOLD:
        return _TOLD[result]
    match result[0]:
        case "collision":
            found = shelf.events[result[1]]
            return ("collision", found.seq, found.write_id)
        case "events":
            return list(unbroken(shelf.log(result[1]), result[2]))
        case "held":
            return result[1]
        case _:
            run = shelf.runs[result[1]]
            return run if call.kind != "line" else [run.run_id] if run.slot is Slot.WANTED else []
