"""Stop a run, wherever it stands."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from chalicelib.core import cancelling, lease, task
from chalicelib.core.errors import Collision, Race, Unavailable
from chalicelib.core.events import OUTSIDE, Event, Stamp
from chalicelib.core.run import Run, Status
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.slot_store import SlotStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.admit import admit
from chalicelib.usecases.confirm import confirm
from chalicelib.usecases.read_run import read_run
from chalicelib.usecases.wake import wake

TRIES = 10
"""Looks at the run: two are needed, and others may come in between."""
CHASE = 10
"""Writes after one look, each behind the event that the one before it met."""


def cancel(
    run_id: str,
    *,
    account_id: str,
    actor: str,
    reason: str | None,
    runs: RunStore,
    slots: SlotStore,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> tuple[Run, Event]:
    """Cancel the run; how it then stands, and the last event of its log. A run that has ended stays what it is."""
    task.check_reason(reason)
    canceller = _Canceller(actor, reason, runs, slots, workflow, clock, chance)
    for _ in range(TRIES):
        run, last = read_run(run_id, account_id=account_id, runs=runs)
        held = lease.held(run, clock.now())
        if run.status.terminal or (run.status is Status.CANCELLING and held):
            return run, last
        with contextlib.suppress(Race):
            canceller.go_on(run, last)
    raise Unavailable(f"{run_id} moved on {TRIES} times while it was being cancelled")


@dataclass(frozen=True, slots=True)
class _Canceller:
    actor: str
    reason: str | None
    runs: RunStore
    slots: SlotStore
    workflow: Workflow
    clock: Clock
    chance: Chance

    def go_on(self, run: Run, last: Event) -> None:
        """Take the one write that brings an unfinished run nearer to its cancel. Raises `Race` if it moved."""
        match run.status:
            case Status.PENDING | Status.WAITING:
                self._on_the_spot(run.run_id)
            case Status.RUNNING | Status.STREAMING:
                self._order(run, last.seq)
            case Status.CANCELLING:
                self._confirm(run.run_id)

    def _order(self, run: Run, tail: int) -> None:
        """Tell the holder. What came in between moves the tail, and no second look is taken if it changes nothing else:
        a run that streams would be ahead again by then."""
        stamp = self._stamp()
        for _ in range(CHASE):
            try:
                self.runs.commit(cancelling.order(run, tail=tail, stamp=stamp, actor=self.actor, reason=self.reason))
                return
            except Collision as collision:
                if not cancelling.still_holds(run, collision.found):
                    raise
                tail = collision.found.seq

    def _on_the_spot(self, run_id: str) -> None:
        run, events = self.runs.remains(run_id)
        if run is None or run.status not in (Status.PENDING, Status.WAITING):
            return
        stamp = self._stamp()
        self.runs.commit(cancelling.at_once(run, events, stamp=stamp, actor=self.actor, reason=self.reason))
        wake(run_id, runs=self.runs, workflow=self.workflow)
        if run.slot is not None:
            admit(run.account_id, runs=self.runs, slots=self.slots, workflow=self.workflow, clock=self.clock)

    def _confirm(self, run_id: str) -> None:
        confirm(
            run_id,
            runs=self.runs,
            slots=self.slots,
            workflow=self.workflow,
            clock=self.clock,
            chance=self.chance,
        )

    def _stamp(self) -> Stamp:
        return Stamp(self.clock.now(), OUTSIDE, self.chance.write_id())
