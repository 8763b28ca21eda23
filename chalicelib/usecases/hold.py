"""One attempt's hold on a run: the only one who appends for it, and what it has taken in so far.

Everything that a worker writes goes through here, and so does everything that it learns: by colliding, by looking at
the tail, by renewing its lease. It is used by one thread; models and tools work beside it and tell it through an
inbox.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from queue import SimpleQueue
from typing import Any, TypeVar

from chalicelib.core import approvals, lease, watching
from chalicelib.core.change import Change, record
from chalicelib.core.errors import Collision, LeaseLost, RunMoved
from chalicelib.core.events import Event, EventType, Stamp
from chalicelib.core.fence import Verdict, judge
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.core.transitions import move, status_after
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.crew import Crew
from chalicelib.ports.run_store import RunStore

T = TypeVar("T")

logger = logging.getLogger(__name__)

LOOK_EVERY = timedelta(seconds=1.5)
"""After so long without an append the tail is read: a cancel is seen within two seconds in a silent model too."""


class Overtaken(Exception):  # noqa: N818 - named by what happened
    """Something came into the log before the act that was to be begun: decide again from the log as it stands."""


class Hold:
    """A run as its holder knows it. Every method raises `LeaseLost` once somebody else has it, or it has ended."""

    def __init__(self, run: Run, log: list[Event], *, runs: RunStore, clock: Clock, chance: Chance, crew: Crew) -> None:
        self.run = run
        self.log = log
        self.clock = clock
        self.crew = crew
        self._runs = runs
        self._chance = chance
        self._renew_at = clock.now() + lease.RENEW_EVERY
        self._look_at = clock.now() + LOOK_EVERY

    @property
    def tail(self) -> int:
        return self.log[-1].seq

    @property
    def cancelling(self) -> bool:
        """Whether a cancel has been taken in."""
        return self.run.status is Status.CANCELLING

    @property
    def watched(self) -> bool:
        """Whether somebody follows the text at this moment."""
        return watching.watched(self.run, self.clock.now())

    @property
    def counts(self) -> bool:
        """Whether the lease still counts by one's own clock. Asked right before an effect, from any thread."""
        return lease.held(self.run, self.clock.now())

    def begin(self, type: EventType, data: Mapping[str, Any]) -> Event:
        """Write that something is about to be done. This is the gate: raises `Overtaken` if the log went on without
        it."""
        event = self._draft(type, data, self._chance.write_id())
        try:
            self._runs.append(self.run, event)
        except Collision as collision:
            self._take_in(collision.found)
            raise Overtaken from None
        return self._wrote(event)

    def tell(self, type: EventType, data: Mapping[str, Any]) -> Event:
        """Write what is already so, a piece of text or a result: after whatever has come in between, a cancel too."""
        write_id = self._chance.write_id()
        while True:
            event = self._draft(type, data, write_id)
            try:
                self._runs.append(self.run, event)
                return self._wrote(event)
            except Collision as collision:
                self._take_in(collision.found)

    def tell_text(self, data: Mapping[str, Any]) -> None:
        """Write a piece of text; the first one of an attempt takes the run from running to streaming."""
        while self.run.status is Status.RUNNING:
            try:
                self.commit(Trigger.FIRST_TOKEN, data)
                return
            except Overtaken:
                continue
        self.tell(EventType.TEXT_DELTA, data)

    def commit(self, trigger: Trigger, data: Mapping[str, Any], **fields: Any) -> None:
        """Change the run's status and write the event that tells of it. Raises `Overtaken` like `begin`."""
        stamp = Stamp(self.clock.now(), self.run.attempt, self._chance.write_id())
        self.put(move(self.run, trigger, tail=self.tail, stamp=stamp, data=data, **fields))

    def put(self, change: Change) -> None:
        """Commit a change that was made from this hold's run and tail."""
        try:
            self._runs.commit(change)
        except Collision as collision:
            self._take_in(collision.found)
            raise Overtaken from None
        except RunMoved:
            self.look()
            raise Overtaken from None
        self.run = change.after
        for event in change.events:
            self._wrote(event)

    def resolve(self, asked: Event, data: Mapping[str, Any]) -> None:
        """Answer a question in the place of those who did not. Raises `Overtaken` like `begin`."""
        self.put(approvals.resolve(self.run, asked, data, tail=self.tail, stamp=self.stamp()))

    def stamp(self) -> Stamp:
        """A new write's stamp."""
        return Stamp(self.clock.now(), self.run.attempt, self._chance.write_id())

    def attend(self, inbox: SimpleQueue[T], until: datetime) -> T | None:
        """The next thing in the inbox; None at `until`, or earlier if the log went on.

        This is where a worker waits, and so where it renews its lease and looks for a cancel. If the hold turns out
        lost, what was in the inbox is still there.
        """
        known = self.tail
        while self.tail == known and (now := self.clock.now()) < until:
            wake_at = min(until, self._renew_at, self._look_at)
            item = self.crew.take(inbox, (wake_at - now).total_seconds())
            try:
                self._keep_up()
            except LeaseLost:
                if item is not None:
                    inbox.put(item)
                raise
            if item is not None:
                return item
        return None

    def beside(self, work: Callable[[], object], until: datetime) -> None:
        """Let something be done that takes its time. Comes back when it is, at `until`, or once a cancel is seen.

        Raises what the work raised, where it was waited for.
        """
        done: SimpleQueue[tuple[Exception | None]] = SimpleQueue()

        def beside() -> None:
            fault: Exception | None = None
            try:
                work()
            except Exception as caught:
                # Somebody may have ceased to wait for it: then this line is all that is left of the fault.
                logger.warning("what was done beside the run failed: run_id=%s", self.run.run_id, exc_info=True)
                fault = caught
            finally:
                done.put((fault,))

        self.crew.begin(beside)
        ended = None
        while ended is None and not self.cancelling and self.clock.now() < until:
            ended = self.attend(done, until)
        if ended is not None and ended[0] is not None:
            raise ended[0]

    def rest(self, until: datetime) -> None:
        """Wait, holding the run. Comes back early if the log went on."""
        self.attend(SimpleQueue(), until)

    def hand_back(self) -> None:
        """Give the run up between two slices."""
        self._runs.hand_back(lease.handed_back(self.run, self.clock.now()))

    def look(self) -> None:
        """Read the tail strongly. What is read binds like a collision, one event at a time."""
        run, events = self._runs.log(self.run.run_id, self.tail)
        for event in events:
            self._take_in(event)
        if run is not None:
            self.run = replace(self.run, watched_until=run.watched_until)
        self._look_at = self.clock.now() + LOOK_EVERY

    def _keep_up(self) -> None:
        now = self.clock.now()
        if now >= self._renew_at:
            renewed = self._runs.renew(lease.renewed(self.run, now))
            self.run = replace(renewed, status=self.run.status, asks=self.run.asks)
            self._renew_at = now + lease.RENEW_EVERY
        if now >= self._look_at:
            self.look()

    def _draft(self, type: EventType, data: Mapping[str, Any], write_id: str) -> Event:
        stamp = Stamp(self.clock.now(), self.run.attempt, write_id)
        return record(type, data, tail=self.tail, stamp=stamp)

    def _wrote(self, event: Event) -> Event:
        self.log.append(event)
        self._look_at = self.clock.now() + LOOK_EVERY
        return event

    def _take_in(self, found: Event) -> None:
        verdict = judge(found)
        if verdict in (Verdict.ENDED, Verdict.FENCED):
            raise LeaseLost(f"{verdict.name.lower()}: seq {found.seq} is {found.type} of attempt {found.attempt}")
        self.log.append(found)
        asks = approvals.asks_after(self.run.asks, found.type, found.data)
        self.run = replace(self.run, status=status_after(self.run.status, found.type), asks=asks)
