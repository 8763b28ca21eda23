"""The table without the store: runs and logs put where they lie, sound ones and such as no rule allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.dynamodb import archives, items, keys
from chalicelib.adapters.dynamodb.archive_store import DynamoArchiveStore
from chalicelib.adapters.dynamodb.audit import DynamoAudit
from chalicelib.adapters.dynamodb.payloads import kept_event
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.slot_store import DynamoSlotStore
from chalicelib.core import slots
from chalicelib.core.events import Event
from chalicelib.core.run import Run, Slot
from chalicelib.core.transitions import status_told
from chalicelib.ports.payload_store import PayloadStore
from tests.builders import a_run
from tests.core.a_log import LogInWords, a_log
from tests.virtual_time import CountedChance, VirtualTime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

A_DAY = timedelta(hours=24)
LARGE = "x" * 40_000


def the_words() -> LogInWords:
    """Two steps, a model call that broke off and was made again, a tool whose answer needs a payload; not ended."""
    words = a_log().accepted().started().step(1).delta("Good mor").taken().reset(1, from_seq=3)
    words.delta("Hel").delta("lo").said("Hello", "look").tool_began().tool_ended(content=LARGE)
    return words.step(2).delta(" world", step=2).said(" world", step=2)


SAID = "Hello world"


def the_run(log: Sequence[Event], **fields: Any) -> Run:
    """The run whose log that is."""
    status = status_told(log)
    attempt = max(event.attempt for event in log)
    if status.terminal:
        ended = a_run(status=status, due_at=None, ended_at=log[-1].at, attempt=attempt)
    else:
        slot = slots.after(a_run(slot=Slot.HELD), status)
        ended = a_run(status=status, attempt=attempt, due_at=log[-1].at + timedelta(minutes=1), slot=slot)
    return replace(ended, **fields)


@dataclass
class Shelf:
    client: DynamoDBClient
    table: str
    payloads: PayloadStore
    time: VirtualTime

    @property
    def runs(self) -> DynamoRunStore:
        return DynamoRunStore(self.client, self.table, **self._with())

    @property
    def slots(self) -> DynamoSlotStore:
        return DynamoSlotStore(self.client, self.table, clock=self.time, chance=CountedChance())

    @property
    def archives(self) -> DynamoArchiveStore:
        return DynamoArchiveStore(self.client, self.table, **self._with())

    @property
    def audit(self) -> DynamoAudit:
        return DynamoAudit(self.client, self.table, **self._with())

    def _with(self) -> dict[str, Any]:
        return {"payloads": self.payloads, "clock": self.time, "chance": CountedChance()}

    def put(self, run: Run, log: Iterable[Event], archive: Event | None = None) -> Run:
        """Put a run there with all that belongs to it."""
        for event in log:
            self.put_item(kept_event(run, event, self.payloads))
        if archive:
            self.put_item(archives.archive_item(run, archive, self.payloads))
        self.put_item(items.run_item(run))
        if run.slot is Slot.HELD:
            holders = sorted({*self.slots.slots(run.account_id).holders, run.run_id})
            self.put_slots(run.account_id, holders={"SS": holders})
        return run

    def put_slots(self, account_id: str, **attributes: Any) -> None:
        """The account's slots as they lie there, looked after."""
        place = {keys.DUE_PK: keys.slots_shard(account_id), keys.DUE_SK: keys.due_sk(self.time.now(), account_id)}
        self.put_item({**items.key({**keys.slots(account_id), **place}), **attributes})

    def put_item(self, item: Mapping[str, Any]) -> None:
        self.client.put_item(TableName=self.table, Item=item)

    def mark(self, key: Mapping[str, str], **attributes: Any) -> None:
        """Set attributes of an item, or remove those that are None."""
        found = self.client.get_item(TableName=self.table, Key=items.key(key))["Item"]
        marked = {**found, **attributes}
        self.put_item({name: value for name, value in marked.items() if value is not None})

    def sort_keys(self, run_id: str) -> list[str]:
        """What lies there for a run."""
        found = self.client.query(
            TableName=self.table,
            KeyConditionExpression="pk = :run",
            ExpressionAttributeValues={":run": items.text(keys.partition(run_id))},
        )
        return [item[keys.SK]["S"] for item in found["Items"]]

    def run(self, run_id: str) -> Run:
        item = self.client.get_item(TableName=self.table, Key=items.key(keys.run(run_id)))["Item"]
        return items.read_run(item)
