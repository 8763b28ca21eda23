"""How runs and their logs are written. Each write names its condition, and knows its own trace if its answer was lost.

An event carries the id of its write. A write without an event leaves its id on the run, unless twice is the same as
once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import conditions, items, keys, payloads, slot_items
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Alter, Cancelled, Put, Refused, Table, Update
from chalicelib.core import answer
from chalicelib.core.change import NOBODY_MOVED_IT, Change
from chalicelib.core.errors import Collision, LeaseLost, NoSlot, RunMoved
from chalicelib.core.events import Event
from chalicelib.core.run import Run, Slot
from chalicelib.ports.chance import Chance
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.ports.run_store import Claim, KeyTaken

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item

HANDED_BACK_BY, RAISED_BY = "handed_back_by", "raised_by"
"""Where the run keeps the id of the last write of these kinds."""

_DUE = ("due_at", keys.DUE_PK, keys.DUE_SK)
_LEASE = ("lease_until", *_DUE)
_START_TOO = (*NOBODY_MOVED_IT, "start")


class RunWrites:
    """The half of `DynamoRunStore` that writes. An account has at most `cap` runs at work at once."""

    def __init__(self, table: Table, payloads: PayloadStore, chance: Chance, cap: int) -> None:
        self._table = table
        self._payloads = payloads
        self._chance = chance
        self._cap = cap

    def create(self, run: Run, first: Event, claim: Claim | None) -> None:
        """Put run, event 0 and, if given, the claim in one transaction. Raises `KeyTaken`, or `Collision`."""
        writes = [self._event(run, first), Put(items.run_item(run), conditions.NOTHING_STANDS_THERE)]
        if claim:
            writes.append(Put(items.claim_item(run, claim), conditions.it_counts_no_more(run.created_at)))
        try:
            self._table.transact(*writes)
        except Cancelled as cancelled:
            event, _, *claims = cancelled.refused
            for taken in filter(None, claims):
                _unless_claimed_for(run, taken)
            self._settle(run, first, event)

    def append(self, run: Run, event: Event) -> None:
        """One conditional put. Raises `Collision` with the event that stands there, unless it is this very write."""
        try:
            self._table.put(self._event(run, event))
        except Refused as refused:
            self._settle(run, event, refused)

    def commit(self, change: Change) -> None:
        """The run's change and its events, in one transaction. Raises `Collision`, `RunMoved` or `NoSlot`."""
        moved = Update(
            keys.run(change.before.run_id),
            items.changed_attributes(change.before, change.after),
            conditions.nobody_moved_it(change.before, change.guards),
        )
        try:
            events = [self._event(change.before, event) for event in change.events]
            self._table.transact(*events, moved, *self._slots(change.before, change.after, change.event.at))
        except Cancelled as cancelled:
            with _no_slot_if(cancelled, len(change.events), change.after):
                self._settle(change.before, change.events[0], cancelled.refused[0])

    def renew(self, run: Run) -> Run:
        """Write the lease of `run` if its attempt still holds it; the run as it then stands. Raises `LeaseLost`."""
        try:
            return self._update(run, _LEASE, conditions.it_is_held_no_longer_than(run))
        except Refused as refused:
            standing = items.read_run(refused.found) if refused.found else None
            if standing is None or standing.attempt != run.attempt or standing.lease_until is None:
                raise LeaseLost(f"attempt {run.attempt} no longer holds {run.run_id}") from refused
            return standing

    def hand_back(self, run: Run) -> None:
        """Remove the lease, on the condition that its attempt still holds the run. Raises `LeaseLost`."""
        write_id = self._chance.write_id()
        try:
            self._update(run, _LEASE, conditions.it_is_held(run), {HANDED_BACK_BY: write_id})
        except Refused as refused:
            if not _is_trace(refused, HANDED_BACK_BY, write_id):
                raise LeaseLost(f"attempt {run.attempt} no longer holds {run.run_id}") from refused

    def raise_start(self, run: Run, due_at: datetime) -> Run:
        """Count the run's executions up by one, if nobody did or moved it otherwise; one in line gets its slot with it.

        Raises `RunMoved` and `NoSlot`.
        """
        write_id = self._chance.write_id()
        raised = replace(run, start=run.start + 1, due_at=due_at, slot=run.slot and Slot.HELD)
        names, trace = ("start", "slot", *_DUE), {RAISED_BY: write_id}
        update = self._of_run(raised, names, conditions.nobody_moved_it(run, _START_TOO), trace)
        slots = self._slots(run, raised, due_at)
        try:
            self._all_or_none(update, *slots)
        except Cancelled as cancelled:
            standing = self._standing(run, cancelled.refused[0])
            if not standing or standing.get(RAISED_BY) != items.text(write_id):
                with _no_slot_if(cancelled, 0, raised):
                    raise RunMoved(f"{run.run_id} is not as it was read") from cancelled
        return raised

    def line_up(self, run: Run) -> None:
        """Note that the run, which has not begun, stands in line. Raises `RunMoved`, also if there is a slot by now."""
        names, as_read = ("slot", *_DUE), replace(run, slot=None)
        update = self._of_run(run, names, conditions.nobody_moved_it(as_read, _START_TOO))
        assert run.due_at is not None, "a run in line is due"
        try:
            self._table.transact(update, *self._slots(as_read, run, run.due_at))
        except Cancelled as cancelled:
            standing = self._standing(run, cancelled.refused[0])
            found = items.read_run(standing) if standing else None
            if found is None or (found.slot, found.start) != (run.slot, run.start):
                raise RunMoved(f"{run.run_id} is not as it was read") from cancelled

    def keep_token(self, run: Run, token: str) -> None:
        """Keep what wakes the run's execution, if it is still in the same start and wait, without an answer.

        From then on an execution stands by, and the run is due when its wait is over. Raises `RunMoved`.
        """
        standing_by = replace(run, token=token, due_at=run.wake_at or run.due_at)
        the_same_wait = conditions.nobody_moved_it(run, (*answer.GUARDS, "start"))
        try:
            self._update(standing_by, ("token", *_DUE), the_same_wait)
        except Refused as refused:
            raise RunMoved(f"{run.run_id} no longer waits for seq {run.waiting_seq}") from refused

    def delete(self, run: Run, at: datetime) -> None:
        """Note that the ended run is deleted, and list it as to be erased. The first time stands."""
        deleted = items.changed_attributes(run, replace(run, deleted_at=at))
        with contextlib.suppress(Refused):
            self._table.update(Update(keys.run(run.run_id), deleted, conditions.IT_HAS_ENDED_AND_IS_NOT_DELETED))

    def stamp_watched(self, run_id: str, until: datetime) -> None:
        """Note that somebody follows the run; an unfinished run only, and never backwards."""
        watched = {"watched_until": items.moment(until)}
        try:
            self._table.update(Update(keys.run(run_id), watched, conditions.it_goes_on_and_is_watched_less_than(until)))
        except Refused:
            return

    def _event(self, run: Run, event: Event) -> Put:
        return Put(payloads.kept_event(run, event, self._payloads), conditions.NOTHING_STANDS_THERE)

    def _update(
        self, run: Run, names: tuple[str, ...], condition: Expression, trace: dict[str, str] | None = None
    ) -> Run:
        """Write these attributes of the run; the run as it then stands. Raises `Refused`."""
        return items.read_run(self._table.update(self._of_run(run, names, condition, trace)))

    def _of_run(
        self, run: Run, names: tuple[str, ...], condition: Expression, trace: dict[str, str] | None = None
    ) -> Update:
        attributes = items.run_attributes(run)
        written = {name: attributes[name] for name in names} | items.key(trace or {})
        return Update(keys.run(run.run_id), written, condition)

    def _all_or_none(self, update: Update, *others: Alter) -> None:
        """What is alone needs no transaction, which would cost twice as much. Raises `Cancelled`."""
        if others:
            self._table.transact(update, *others)
            return
        try:
            self._table.update(update)
        except Refused as refused:
            raise Cancelled([refused]) from refused

    def _slots(self, before: Run, after: Run, at: datetime) -> list[Alter]:
        return slot_items.written(before, after, at, self._cap)

    def _standing(self, run: Run, refused: Refused | None) -> Item | None:
        """The run's item as a refused write found it; DynamoDB does not promise to say, so it may be read."""
        return refused.found if refused else self._table.get(keys.run(run.run_id))

    def _settle(self, run: Run, event: Event, refused: Refused | None) -> None:
        """Nothing, if what stands at the event's seq is this very write: its answer was lost.

        Raises `Collision`, or `RunMoved` if nothing stands there. DynamoDB does not promise to examine every write of a
        transaction that it cancels, so that what it did not show is looked up.
        """
        found = refused.found if refused else self._table.get(keys.event(run.run_id, event.seq))
        if found is None:
            raise RunMoved(f"{run.run_id} is not as it was read")
        standing = payloads.whole_event(run.run_id, found, self._payloads)
        if standing.write_id != event.write_id:
            raise Collision(standing)


@contextlib.contextmanager
def _no_slot_if(cancelled: Cancelled, at: int, after: Run) -> Iterator[None]:
    """Where only the slots refused the run, which stands `at` that place of the transaction, they are the reason."""
    try:
        yield
    except RunMoved:
        if after.slot is Slot.HELD and cancelled.refused[at] is None and any(cancelled.refused[at + 1 :]):
            raise NoSlot(f"no slot for {after.run_id}") from cancelled
        raise


def _unless_claimed_for(run: Run, taken: Refused) -> None:
    assert taken.found is not None, "a claim that counts is there"
    run_id, payload_digest = items.read_claim(taken.found)
    if run_id != run.run_id:
        raise KeyTaken(run_id, payload_digest)


def _is_trace(refused: Refused, name: str, write_id: str) -> bool:
    return refused.found is not None and refused.found.get(name) == items.text(write_id)
