"""Everything in the table that belongs to a run, for the doctor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import archives, conditions, items, keys, payloads, slot_items
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Refused, Table, Update
from chalicelib.core.case import Case, Listing
from chalicelib.core.change import NOBODY_MOVED_IT
from chalicelib.core.errors import PayloadMissing
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.core.slots import Slots
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.payload_store import PayloadStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Item

_LISTED = {
    keys.DUE_PREFIX: Listing.UNFINISHED,
    keys.OLD_PREFIX: Listing.OLD,
    keys.DELETED_PREFIX: Listing.DELETED,
    keys.LINE_PREFIX: Listing.IN_LINE,
}
_PLACE = (keys.DUE_PK, keys.DUE_SK)
_AS_READ = (*NOBODY_MOVED_IT, "due_at", "archived_at", "deleted_at")


@dataclass
class _Log:
    """The events of a run, one after the other."""

    run_id: str
    store: PayloadStore
    events: list[Event] = field(default_factory=list)
    expiring: list[int] = field(default_factory=list)

    def add(self, item: Item) -> None:
        event = payloads.what_is_left(self.run_id, item, self.store)
        self.events.append(event)
        if keys.TTL in item:
            self.expiring.append(event.seq)


class DynamoAudit:
    """An `Audit`."""

    def __init__(
        self, client: DynamoDBClient, table: str, *, payloads: PayloadStore, clock: Clock, chance: Chance
    ) -> None:
        self._table = Table(client, table, Retry(clock, chance))
        self._payloads = payloads

    def case(self, run_id: str) -> Case | None:
        found = {item[keys.SK]["S"]: item for item in self._table.query_all(_all_of(run_id), strong=True)}
        run, archive = found.pop(keys.RUN_SK, None), found.pop(keys.ARCHIVE_SK, None)
        if run is None:
            return None
        log = _Log(run_id, self._payloads)
        for item in found.values():
            log.add(item)
        return Case(
            run=items.read_run(run),
            events=log.events,
            archive=self._archive(archive) if archive else None,
            listed=_listing(run),
            slots=self._slots(items.read_run(run)),
            expiring=tuple(log.expiring),
        )

    def _archive(self, item: Item) -> Event | None:
        """An archive whose packed part is gone is none."""
        try:
            return archives.read_archive(item, self._payloads)
        except PayloadMissing:
            return None

    def _slots(self, run: Run) -> Slots | None:
        if run.slot is None:
            return None
        return slot_items.read(run.account_id, self._table.get(keys.slots(run.account_id)))

    def deleted(self, account_id: str, limit: int, after: str | None) -> tuple[Sequence[str], str | None]:
        found = self._table.query(
            _deleted_of(account_id),
            index=keys.BY_ACCOUNT,
            limit=limit,
            after=_place(account_id, after) if after else None,
        )
        run_ids = [keys.run_id_of(item[keys.PK]["S"]) for item in found.items]
        return run_ids, run_ids[-1] if found.last else None

    def relist(self, run: Run) -> bool:
        attributes = items.run_attributes(run)
        place = {name: attributes[name] for name in _PLACE}
        try:
            self._table.update(Update(keys.run(run.run_id), place, conditions.nobody_moved_it(run, _AS_READ)))
        except Refused:
            return False
        return True


def _listing(item: Item) -> Listing | None:
    shard = item[keys.DUE_PK]["S"] if keys.DUE_PK in item else ""
    return next((listing for prefix, listing in _LISTED.items() if shard.startswith(prefix)), None)


def _all_of(run_id: str) -> Expression:
    return Expression(f"#{keys.PK} = :run", {":run": items.text(keys.partition(run_id))})


def _deleted_of(account_id: str) -> Expression:
    return Expression(
        f"#{keys.ACCOUNT_PK} = :account AND begins_with(#{keys.ACCOUNT_SK}, :kind)",
        {":account": items.text(keys.account(account_id)), ":kind": items.text(keys.DELETED_SK)},
    )


def _place(account_id: str, run_id: str) -> Item:
    index = {keys.ACCOUNT_PK: keys.account(account_id), keys.ACCOUNT_SK: keys.account_deleted_sk(run_id)}
    return items.key(keys.run(run_id) | index)
