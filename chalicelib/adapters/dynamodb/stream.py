"""The table's stream, as Lambda hands on its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.announcement import Announcement, announcement
from chalicelib.ports.stream import Written

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item


class DynamoStream:
    """A `Stream`. Its mapping passes on new events of logs and nothing else (infra/stream.py)."""

    def written(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Written]:
        """What the records of one invocation tell of, in their order."""
        return [_written(record["dynamodb"]["Keys"]) for record in records]

    def announced(self, records: Sequence[Mapping[str, Any]]) -> Sequence[Announcement]:
        """An event never changes: what its record shows of it is what the log holds."""
        told = (_announced(record["dynamodb"]["NewImage"]) for record in records)
        return [one for one in told if one is not None]


def _announced(image: Item) -> Announcement | None:
    run_id = keys.run_id_of(image[keys.PK]["S"])
    return announcement(items.account_of(image), run_id, items.read_event(image), items.own_webhook(image))


def _written(key: Mapping[str, Any]) -> Written:
    return Written(keys.run_id_of(key[keys.PK]["S"]), keys.seq_of(key[keys.SK]["S"]))
