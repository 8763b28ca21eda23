"""A table in memory with DynamoDB's semantics: what each call of the `RunStore` port does to one run and its log.

Conditional puts and updates, transactions of both, and what a refused one hands back (`ALL_OLD`). The port's contract
is stated once more here, so that the search does not depend on boto3; `test_replay` holds it against the real adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from chalicelib.core import slots
from chalicelib.core.answer import GUARDS
from chalicelib.core.change import NOBODY_MOVED_IT
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Run, Slot
from chalicelib.ports.model import ModelRequest
from chalicelib.usecases.hold import Hold
from tests.model.book import Book, Freezer


class Call(NamedTuple):
    """Something that a use case asks of the world. `args` are numbers of the books and plain values."""

    kind: str
    args: tuple[Any, ...] = ()


Result = tuple[Any, ...]
OK: Result = ("ok",)
MOVED: Result = ("moved",)
LOST: Result = ("lost",)
NO_SLOT: Result = ("no slot",)

WRITES = frozenset({"append", "commit", "renew", "hand back", "raise start", "line up", "keep token", "free"})


class Held(NamedTuple):
    """The account's only slot: whether another run holds it, this one, or this one is in line before new ones."""

    other: bool = False
    own: bool = False
    resuming: bool = False


class Table(NamedTuple):
    """One run, its log, the account's slots, and the ids of the last writes that have no event of their own (hand back,
    raise start)."""

    run: int
    log: int
    traces: tuple[str, str] = ("", "")
    held: Held = Held()


@dataclass(frozen=True)
class Rules:
    """What the table insists on; a variant of the model leaves one out."""

    absent: bool = True
    """A put is refused where an event stands."""
    own_write: str = "write id"
    """How a writer knows its own event again: `write id`, `attempt`, or not at all."""
    one_transaction: bool = True
    """The run's change and its event take effect together."""
    unguarded: tuple[str, ...] = ()
    """Fields that a change was made from, and that need not stand any more; all others that it names must."""
    start_unmoved: bool = True
    """A run's executions are counted up only if it still is as it was read."""
    same_attempt: bool = True
    """A lease is renewed, or given back, by its own attempt only."""
    lease_present: bool = True
    """A lease is renewed, or given back, only where there is one."""
    same_start: bool = True
    """A token is kept only for the run's own start."""
    no_answer_yet: bool = True
    """A token is kept only while the wait has no answer."""
    a_slot_is_free: bool = True
    """A slot is taken only where there is one."""
    none_is_free: bool = True
    """A run stands in line only where there is none."""


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAR = NOON + timedelta(hours=6)
"""Times after this one are as good as never."""


def _what_counts_of_an_event(event: Event) -> Any:
    """All but its time, which decides nothing; of a call's start it says whether a second one came too early."""
    at = event.at if event.type is EventType.TOOL_STARTED else None
    return (event.seq, event.type, dict(event.data), event.attempt, event.write_id, at)


def _what_counts_of_a_hold(hold: Hold) -> Any:
    """What is due is due, however long it has been."""
    now, inside = hold.clock.now(), dict(vars(hold))
    for name in ("_renew_at", "_look_at"):
        inside[name] = inside[name] > now and inside[name]
    return inside


_RECORDED = ("created_at", "first_token_at", "ended_at")
_FIELDS = [field.name for field in fields(Run) if field.name not in _RECORDED]

_WHAT_COUNTS: dict[type, Callable[[Any], Any]] = {
    Run: attrgetter(*_FIELDS),
    Hold: _what_counts_of_a_hold,
    Event: _what_counts_of_an_event,
    ModelRequest: lambda request: (request.step, request.attempt_no, request.messages),
    datetime: lambda at: "far" if at > FAR else at.isoformat(),
}


class Shelf:
    """The tables that there can be."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.freezer = Freezer(_WHAT_COUNTS)
        self.runs: Book[Run] = Book(self.freezer)
        self.events: Book[Event] = Book(self.freezer)
        self.logs: Book[tuple[int, ...]] = Book(self.freezer)
        self._memo: dict[tuple[Call, Table], tuple[Table, Result]] = {}

    def log(self, number: int) -> list[Event]:
        return [self.events[each] for each in self.logs[number]]

    def apply(self, call: Call, table: Table) -> tuple[Table, Result]:
        """The table after the call, and its answer."""
        key = (call, table)
        done = self._memo.get(key)
        if done is None:
            done = self._memo[key] = getattr(self, "_" + call.kind.replace(" ", "_"))(table, *call.args)
        return done

    def made(self, kind: str) -> list[tuple[Table, Table]]:
        """The tables before and after every call of that kind that was made so far."""
        return [(before, after) for (call, before), (after, _) in self._memo.items() if call.kind == kind]

    def _events(self, table: Table, since: int) -> tuple[Table, Result]:
        return table, ("events", table.log, since)

    def _events_beyond(self, table: Table) -> tuple[Table, Result]:
        return table, ("events", table.log)

    def _run(self, table: Table) -> tuple[Table, Result]:
        return table, ("run", table.run)

    _run_behind = _run
    _due = _run

    def _event_before(self, table: Table) -> tuple[Table, Result]:
        last = max(self.logs[table.log], key=lambda each: self.events[each].seq)
        return table, ("event", last)

    def _append(self, table: Table, event: int) -> tuple[Table, Result]:
        standing = self._standing(table, event)
        if standing is not None and self.rules.absent:
            return table, OK if self._own(standing, event) else ("collision", standing)
        return table._replace(log=self._put(table.log, event)), OK

    def _commit(
        self, table: Table, before: int, after: int, events: tuple[int, ...], guards: tuple[str, ...]
    ) -> tuple[Table, Result]:
        standing = self._standing(table, events[0])
        if standing is not None:
            return table, OK if self._own(standing, events[0]) else ("collision", standing)
        if not self._same(table.run, before, [name for name in guards if name not in self.rules.unguarded]):
            return table, MOVED
        held, refused = self._slots(table.held, self.runs[before], self.runs[after])
        if refused:
            return table, refused
        table = table._replace(run=self._changed(table.run, before, after), held=held)
        for event in events if self.rules.one_transaction else ():
            table = table._replace(log=self._put(table.log, event))
        return table, OK

    def _renew(self, table: Table, run: int) -> tuple[Table, Result]:
        now, new = self.runs[table.run], self.runs[run]
        if not self._holds(now, new):
            return table, LOST
        assert new.lease_until is not None
        if now.lease_until is not None and now.lease_until > new.lease_until:
            return table, ("run", table.run)
        renewed = self.runs.number(replace(now, lease_until=new.lease_until, due_at=new.due_at))
        return table._replace(run=renewed), ("run", renewed)

    def _hand_back(self, table: Table, run: int, write_id: str) -> tuple[Table, Result]:
        now, new = self.runs[table.run], self.runs[run]
        if table.traces[0] == write_id and now.lease_until is None:
            return table, OK
        if not self._holds(now, new):
            return table, LOST
        given = self.runs.number(replace(now, lease_until=None, due_at=new.due_at))
        return table._replace(run=given, traces=(write_id, table.traces[1])), OK

    def _raise_start(self, table: Table, run: int, due_at: datetime, write_id: str) -> tuple[Table, Result]:
        if table.traces[1] == write_id:
            return table, ("run", table.run)
        if self.rules.start_unmoved and not self._same(table.run, run, (*NOBODY_MOVED_IT, "start")):
            return table, MOVED
        now = self.runs[table.run]
        raised = replace(now, start=now.start + 1, due_at=due_at, slot=now.slot and Slot.HELD)
        held, refused = self._slots(table.held, now, raised)
        if refused:
            return table, refused
        number = self.runs.number(raised)
        return table._replace(run=number, traces=(table.traces[0], write_id), held=held), ("run", number)

    def _line_up(self, table: Table, run: int) -> tuple[Table, Result]:
        now, new = self.runs[table.run], self.runs[run]
        if (now.status, now.attempt, now.start) != (new.status, new.attempt, new.start):
            return table, MOVED
        if now.slot is not None:
            return table, OK if now.slot is new.slot else MOVED
        held, refused = self._slots(table.held, now, new)
        if refused:
            return table, refused
        return table._replace(run=self._changed(table.run, table.run, run), held=held), OK

    def _slots(self, held: Held, before: Run, after: Run) -> tuple[Held, Result]:
        """The slots after a change of the run, or how they refuse it: there is one, and another run may hold it."""
        match slots.use(before, after):
            case slots.Use.TAKE:
                taken = held.other and not held.own and self.rules.a_slot_is_free
                return held._replace(own=True, resuming=False), NO_SLOT if taken else ()
            case slots.Use.LINE_UP:
                free = (held.own or not held.other) and self.rules.none_is_free
                return held._replace(resuming=slots.resumes(before)), MOVED if free else ()
            case slots.Use.FREE:
                return held._replace(own=False, resuming=False), ()
            case None:
                return held, ()

    def _held(self, table: Table) -> tuple[Table, Result]:
        in_line = table.held.resuming or self.runs[table.run].slot is Slot.WANTED
        return table, ("held", table.held, in_line)

    def _line(self, table: Table) -> tuple[Table, Result]:
        return table, ("run", table.run)

    def _free(self, table: Table, run: int) -> tuple[Table, Result]:
        if not self._same(table.run, run, NOBODY_MOVED_IT):
            return table, MOVED
        return table._replace(held=table.held._replace(own=False, resuming=False)), OK

    def _keep_token(self, table: Table, run: int, token: str) -> tuple[Table, Result]:
        guards = [*GUARDS, "start"]
        if not self.rules.same_start:
            guards.remove("start")
        if not self.rules.no_answer_yet:
            guards.remove("wake_seq")
        if not self._same(table.run, run, guards):
            return table, MOVED
        now, read = self.runs[table.run], self.runs[run]
        return table._replace(run=self.runs.number(replace(now, token=token, due_at=read.wake_at or read.due_at))), OK

    def _standing(self, table: Table, event: int) -> int | None:
        seq = self.events[event].seq
        return next((each for each in self.logs[table.log] if self.events[each].seq == seq), None)

    def _own(self, standing: int, event: int) -> bool:
        found, wrote = self.events[standing], self.events[event]
        if self.rules.own_write == "attempt":
            return found.attempt == wrote.attempt
        return self.rules.own_write == "write id" and found.write_id == wrote.write_id

    def _put(self, log: int, event: int) -> int:
        seq = self.events[event].seq
        others = [each for each in self.logs[log] if self.events[each].seq != seq]
        return self.logs.number(tuple(sorted([*others, event], key=lambda each: self.events[each].seq)))

    def _same(self, now: int, before: int, names: Iterable[str]) -> bool:
        return all(getattr(self.runs[now], name) == getattr(self.runs[before], name) for name in names)

    def _changed(self, now: int, before: int, after: int) -> int:
        """Only what the change differs in is written; a renewal that came in between stands."""
        was, becomes = self.runs[before], self.runs[after]
        names = [field.name for field in fields(Run)]
        differs = {name: getattr(becomes, name) for name in names if getattr(was, name) != getattr(becomes, name)}
        return self.runs.number(replace(self.runs[now], **differs))

    def _holds(self, now: Run, own: Run) -> bool:
        its_own = now.attempt == own.attempt or not self.rules.same_attempt
        return its_own and (now.lease_until is not None or not self.rules.lease_present)
