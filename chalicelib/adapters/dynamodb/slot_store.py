"""The slots of accounts in DynamoDB, for whoever looks after them: one item an account, two sets of run ids."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import conditions, due_index, items, keys, slot_items
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Alter, Cancelled, Check, Refused, Table, Update
from chalicelib.core.change import NOBODY_MOVED_IT
from chalicelib.core.run import Run, Slot
from chalicelib.core.slots import Slots
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoSlotStore:
    """A `SlotStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def slots(self, account_id: str) -> Slots:
        return slot_items.read(account_id, self._table.get(keys.slots(account_id)))

    def line(self, account_id: str, limit: int) -> Sequence[Run]:
        in_line = Expression(f"#{keys.DUE_PK} = :line", {":line": items.text(keys.line(account_id))})
        found = self._table.query(in_line, index=keys.BY_DUE, limit=limit).items
        runs = (self._table.get(keys.run(keys.run_id_of(item[keys.PK]["S"]))) for item in found)
        return [run for item in runs if item and (run := items.read_run(item)).slot is Slot.WANTED]

    def free(self, account_id: str, run_id: str, run: Run | None) -> bool:
        unmoved = conditions.nobody_moved_it(run, NOBODY_MOVED_IT) if run else conditions.NOTHING_STANDS_THERE
        try:
            self._table.transact(Check(keys.run(run_id), unmoved), slot_items.freed(account_id, run_id))
        except Cancelled:
            return False
        return True

    def forget_line(self, slots: Slots) -> None:
        assert slots.lined_up_at is not None, "somebody lined up once"
        nobody_since = Expression("#lined_up_at = :seen", {":seen": items.moment(slots.lined_up_at)})
        with contextlib.suppress(Refused):
            self._table.update(Update(keys.slots(slots.account_id), {"lined_up_at": None}, nobody_since))

    def to_tend(self, now: datetime, limit: int) -> Sequence[str]:
        found = due_index.entries(self._table, keys.slots_shards(), now, limit)
        return [keys.slots_account_of(item[keys.PK]["S"]) for item in found]

    def look_again(self, account_id: str, at: datetime) -> None:
        key, unlisted = keys.slots(account_id), {keys.DUE_PK: None, keys.DUE_SK: None}
        try:
            self._table.update(Update(key, unlisted, slot_items.IT_IS_EMPTY))
        except Refused:
            shard, due = keys.slots_shard(account_id), keys.due_sk(at, account_id)
            later = {":shard": items.text(shard), ":due": items.text(due)}
            change = f"SET #{keys.DUE_PK} = :shard, #{keys.DUE_SK} = :due"
            self._table.update(Alter(key, Expression(change, later)))
