"""Those who write one run's log, each from what it knows, which may be old: workers, and somebody outside.

They follow the rules (`lease`, `transitions`, `fence`) and nothing else. What the store told them is noted in `World`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core import lease
from chalicelib.core.change import NOBODY_HOLDS_IT, Change, record
from chalicelib.core.cursor import following
from chalicelib.core.errors import Collision, LeaseLost, RunMoved, Unavailable
from chalicelib.core.events import OUTSIDE, Event, EventType, Stamp
from chalicelib.core.fence import Verdict, judge
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.transitions import TRANSITIONS, move, status_after
from tests.builders import NOON, RUN_ID


@dataclass
class World:
    """What they share: the store, the time, and what they were told about their writes."""

    runs: DynamoRunStore
    now: datetime = NOON
    accepted: set[tuple[str, int]] = field(default_factory=set)
    """Events that the store said were written, by write id and seq."""
    refused: set[tuple[str, int]] = field(default_factory=set)
    """Events that the store said were not."""
    held_until: dict[int, datetime] = field(default_factory=dict)
    """How long an attempt was told that it holds the run."""
    handed_back: set[int] = field(default_factory=set)
    starts: int = 0
    maybe_starts: int = 0
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def write_id(self) -> str:
        return f"w{next(self._numbers)}"

    def act(self) -> dict[str, Any]:
        """The data of an event that must be in the log once at most."""
        return {"act": next(self._numbers)}

    def write(self, send: Callable[[], None], event: Event) -> None:
        """Send a write, and note what its sender was told. Raises as the store does."""
        try:
            send()
        except (Collision, RunMoved):
            self.refused.add((event.write_id, event.seq))
            raise
        self.accepted.add((event.write_id, event.seq))

    def commit(self, change: Change) -> None:
        self.write(lambda: self.runs.commit(change), change.event)
        if "lease_until" in change.guards:
            assert self.held_until.get(change.before.attempt, self.now) <= self.now, "overtaken while its lease counts"
        if change.event.attempt == change.after.attempt:
            self.holds(change.after)

    def append(self, run: Run, event: Event) -> None:
        self.write(lambda: self.runs.append(run, event), event)

    def holds(self, run: Run) -> None:
        """The run's attempt was told that it holds it, or holds it no longer."""
        if run.lease_until is None:
            self.held_until.pop(run.attempt, None)
        else:
            self.held_until[run.attempt] = max(run.lease_until, self.held_until.get(run.attempt, run.lease_until))


class Worker:
    """One invocation after another of the loop: it looks, takes the run, works, and stops where the rules say so."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.run: Run | None = None
        self.tail = -1
        self.holds = False

    @property
    def cancelling(self) -> bool:
        return self.run is not None and self.run.status is Status.CANCELLING

    def look(self) -> None:
        if self.holds:
            return
        try:
            self.run, log = self.world.runs.log(RUN_ID)
            self.tail = log[-1].seq
        except Unavailable:
            self.stop()

    def take(self) -> None:
        """Take the run as it was when last looked at."""
        if self.holds or self.run is None or not lease.may_take(self.run, self.world.now):
            return
        taking = lease.take(self.run, tail=self.tail, now=self.world.now, write_id=self.world.write_id())
        try:
            self.world.commit(taking)
        except (Collision, RunMoved, Unavailable):
            self.stop()
        else:
            self.holds, self.run, self.tail = True, taking.after, taking.event.seq

    def stop(self) -> None:
        self.holds, self.run, self.tail = False, None, -1

    def begin(self, type: EventType) -> None:
        """Something new: not while the run is being cancelled, and not past anything that came in between."""
        run = self._held()
        if self.cancelling:
            return
        event = self._draft(type, self.world.act(), self.world.write_id())
        self._try(lambda: self.world.append(run, event), event)

    def tell(self, type: EventType) -> None:
        """Something known: put behind whatever came in between, under its one write id."""
        act, write_id = self.world.act(), self.world.write_id()
        while self.holds:
            event = self._draft(type, act, write_id)
            run = self._held()
            self._try(lambda event=event, run=run: self.world.append(run, event), event)  # type: ignore[misc]
            if (write_id, event.seq) in self.world.accepted:
                return

    def text(self) -> None:
        if self._held().status is Status.RUNNING:
            self.change(Trigger.FIRST_TOKEN)
        else:
            self.tell(EventType.TEXT_DELTA)

    def change(self, trigger: Trigger) -> None:
        run = self._held()
        if trigger not in TRANSITIONS[run.status]:
            return
        fields: dict[str, Any] = {}
        if trigger is Trigger.WAIT:
            wake_at = self.world.now + timedelta(seconds=20)
            seq = following(self.tail)
            fields = {"waiting_for": "provider", "waiting_seq": seq, "wake_at": wake_at, "due_at": wake_at}
        stamp = Stamp(self.world.now, run.attempt, self.world.write_id())
        change = move(run, trigger, tail=self.tail, stamp=stamp, data=self.world.act(), **fields)
        if self._try(lambda: self.world.commit(change), change.event):
            self.run = change.after
            if change.after.lease_until is None:
                self.stop()

    def renew(self) -> None:
        run = self._held()
        try:
            self.world.holds(self.world.runs.renew(lease.renewed(run, self.world.now)))
        except (LeaseLost, Unavailable):
            self.stop()

    def hand_back(self) -> None:
        run = self._held()
        back = lease.handed_back(run, self.world.now)
        self.world.holds(back)
        try:
            self.world.runs.hand_back(back)
            self.world.handed_back.add(run.attempt)
        except (LeaseLost, Unavailable):
            pass
        self.stop()

    def _held(self) -> Run:
        assert self.run is not None
        return self.run

    def _draft(self, type: EventType, data: dict[str, Any], write_id: str) -> Event:
        stamp = Stamp(self.world.now, self._held().attempt, write_id)
        return record(type, data, tail=self.tail, stamp=stamp)

    def _try(self, send: Callable[[], None], event: Event) -> bool:
        """Whether it was written; if not, what stands in the way has been taken in."""
        try:
            send()
        except Collision as collision:
            self._take_in(collision.found, event.write_id)
        except RunMoved:
            self._catch_up(event.write_id)
        except Unavailable:
            self.stop()
        else:
            self.tail = event.seq
            return True
        return False

    def _catch_up(self, write_id: str) -> None:
        try:
            _, news = self.world.runs.log(RUN_ID, self.tail)
        except Unavailable:
            self.stop()
            return
        assert news, "who moves a run says so in its log"
        for found in news:
            self._take_in(found, write_id)

    def _take_in(self, found: Event, write_id: str) -> None:
        if not self.holds:
            return
        verdict = judge(found, write_id)
        assert verdict is not Verdict.OURS, "the store knows a write of ours"
        if verdict in (Verdict.ENDED, Verdict.FENCED):
            self.stop()
            return
        self.tail = found.seq
        run = self._held()
        self.run = replace(run, status=status_after(run.status, found.type))


class Outsider:
    """The API and the sweeper, who hold nothing: they look, and later write from what they saw."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen: tuple[Run, Event] | None = None

    def look(self) -> None:
        try:
            self.seen = self.world.runs.tail(RUN_ID)
        except Unavailable:
            self.seen = None

    def passes_by(self, *, cancels: bool) -> None:
        self.look()
        self.writes(cancels=cancels)

    def writes(self, *, cancels: bool) -> None:
        self.cancel() if cancels else self.say()

    def cancel(self) -> None:
        if self.seen is not None and Trigger.CANCEL in TRANSITIONS[self.seen[0].status]:
            self._change(Trigger.CANCEL)

    def say(self) -> None:
        if self.seen is None or self.seen[0].status.terminal:
            return
        run, last = self.seen
        stamp = Stamp(self.world.now, OUTSIDE, self.world.write_id())
        message = record(EventType.MESSAGE_ADDED, self.world.act(), tail=last.seq, stamp=stamp)
        self._once(lambda: self.world.append(run, message))

    def settle(self) -> None:
        """End a run in its holder's place: confirm a cancel, or fail what lies there."""
        if self.seen is None or self.seen[0].status.terminal or lease.held(self.seen[0], self.world.now):
            return
        ending = Trigger.CONFIRM if self.seen[0].status is Status.CANCELLING else Trigger.FAIL
        self._change(ending, guards=NOBODY_HOLDS_IT)

    def restart(self) -> None:
        if self.seen is None or self.seen[0].status.terminal:
            return
        run = self.seen[0]
        self.seen = None
        try:
            self.world.runs.raise_start(run, self.world.now + lease.UNHELD_GRACE)
            self.world.starts += 1
        except RunMoved:
            return
        except Unavailable:
            self.world.maybe_starts += 1

    def _change(self, trigger: Trigger, **how: Any) -> None:
        assert self.seen is not None
        run, last = self.seen
        stamp = Stamp(self.world.now, OUTSIDE, self.world.write_id())
        change = move(run, trigger, tail=last.seq, stamp=stamp, data=self.world.act(), **how)
        self._once(lambda: self.world.commit(change))

    def _once(self, send: Callable[[], None]) -> None:
        self.seen = None
        try:
            send()
        except (Collision, RunMoved, Unavailable):
            return
