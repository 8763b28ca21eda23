"""An archive is its run's snapshot, kept as an item. What does not fit is in the payload store, packed.

The same snapshot packs to the same bytes under the same key: two archivers of one run do not disturb each other.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.payloads import LARGEST
from chalicelib.core.errors import PayloadMissing
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.payload_store import PayloadStore

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item

NOTHING = "{}"


def archive_item(run: Run, snapshot: Event, payloads: PayloadStore) -> Item:
    """The archive's item. What does not fit into it is in the payload store before this returns."""
    data = items.data_text(snapshot.data)
    if len(data.encode()) <= LARGEST:
        return _item(run, snapshot, data)
    packed = gzip.compress(data.encode(), mtime=0)
    key = f"{packed_prefix(run.run_id)}{hashlib.sha256(packed).hexdigest()}"
    payloads.put(key, packed)
    return {**_item(run, snapshot, NOTHING), "payload": items.text(key)}


def packed_prefix(run_id: str) -> str:
    """What the keys of all the run's packed archives begin with."""
    return f"archives/{run_id}/"


def read_archive(item: Item, payloads: PayloadStore) -> Event:
    """The snapshot of an archive's item. Raises `PayloadMissing`."""
    seq = int(item["seq"]["N"])
    snapshot = items.read_event({**item, keys.SK: items.text(keys.event_sk(seq))})
    if "payload" not in item:
        return snapshot
    key = item["payload"]["S"]
    try:
        packed = payloads.get(key)
    except KeyError:
        raise PayloadMissing(keys.run_id_of(item[keys.PK]["S"]), key) from None
    return replace(snapshot, data=json.loads(gzip.decompress(packed)))


def _item(run: Run, snapshot: Event, data: str) -> Item:
    """An event's item, but for its key."""
    as_event = items.event_item(run, snapshot, data)
    return {**as_event, **items.key(keys.archive(run.run_id)), "seq": items.number(snapshot.seq)}
