"""Archives in DynamoDB, the end of the events that they stand for, and the end of runs that were deleted."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import archives, conditions, due_index, items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.payloads import payload_prefix
from chalicelib.adapters.dynamodb.table import Put, Refused, Table, Update
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.payload_store import PayloadStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoArchiveStore:
    """An `ArchiveStore`."""

    def __init__(
        self, client: DynamoDBClient, table: str, *, payloads: PayloadStore, clock: Clock, chance: Chance
    ) -> None:
        self._table = Table(client, table, Retry(clock, chance))
        self._payloads = payloads

    def old(self, ended_until: datetime, limit: int) -> Sequence[Run]:
        return due_index.listed(self._table, keys.old_shards(), ended_until, limit)

    def put_off(self, run: Run, until: datetime) -> None:
        shard = keys.deleted_shard if run.deleted_at else keys.old_shard
        still_there = conditions.IT_IS_DELETED if run.deleted_at else conditions.IT_IS_TO_BE_ARCHIVED
        place = {keys.DUE_PK: shard(run.run_id), keys.DUE_SK: keys.due_sk(until, run.run_id)}
        with contextlib.suppress(Refused):
            self._table.update(Update(keys.run(run.run_id), items.key(place), still_there))

    def keep(self, run: Run, snapshot: Event) -> None:
        item = archives.archive_item(run, snapshot, self._payloads)
        with contextlib.suppress(Refused):
            self._table.put(Put(item, conditions.NOTHING_STANDS_THERE))

    def delete_events(self, run_id: str, limit: int) -> int:
        # One by one and upwards: what is left has its holes at its start, and its end is the last to go.
        found = self._table.query(_events(run_id), limit=limit, strong=True).items
        for item in found:
            self._table.delete(keys.event(run_id, keys.seq_of(item[keys.SK]["S"])))
        return len(found)

    def delete_payloads(self, run_id: str) -> None:
        self._payloads.delete_under(payload_prefix(run_id))

    def close(self, run: Run, at: datetime) -> None:
        archived = items.changed_attributes(run, replace(run, archived_at=at))
        with contextlib.suppress(Refused):
            self._table.update(Update(keys.run(run.run_id), archived, conditions.IT_IS_TO_BE_ARCHIVED))

    def deleted(self, until: datetime, limit: int) -> Sequence[Run]:
        return due_index.listed(self._table, keys.deleted_shards(), until, limit)

    def delete_archive(self, run_id: str) -> None:
        # The item first: whoever meets it finds what it refers to.
        self._table.delete(keys.archive(run_id))
        self._payloads.delete_under(archives.packed_prefix(run_id))

    def delete_run(self, run_id: str) -> None:
        with contextlib.suppress(Refused):
            self._table.delete(keys.run(run_id), conditions.IT_IS_DELETED)


def _events(run_id: str) -> Expression:
    return Expression(
        f"#{keys.PK} = :run AND begins_with(#{keys.SK}, :events)",
        {":run": items.text(keys.partition(run_id)), ":events": items.text(keys.EVENTS_SK)},
    )
