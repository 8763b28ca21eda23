"""What of an event is too large for its item goes to the payload store; the event carries a reference.

A reference is {"payload": {"digest", "bytes"}}: the SHA-256 and the length of the field's JSON. Clients get references,
workers the fields themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.dynamodb import items
from chalicelib.core.errors import PayloadMissing
from chalicelib.core.events import Event
from chalicelib.core.run import Run
from chalicelib.ports.payload_store import PayloadStore

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item

LARGEST = 32 * 1024
"""Bytes of JSON that an event's data may have in its item."""


def payload_key(run_id: str, digest: str, write_id: str) -> str:
    """Found by run and digest; the write id keeps a writer that lost away from what the winner's event refers to."""
    return f"{payload_prefix(run_id)}{digest}/{write_id}"


def payload_prefix(run_id: str) -> str:
    """What the keys of all the run's payloads begin with."""
    return f"payloads/{run_id}/"


def kept_event(run: Run, event: Event, payloads: PayloadStore) -> Item:
    """The event's item. What does not fit into it is in the payload store before this returns."""
    data = items.data_text(event.data)
    excess = len(data.encode()) - LARGEST
    if excess <= 0:
        return items.event_item(run, event, data)
    small, moved = _move_largest(event, run.run_id, excess, payloads)
    return items.event_item(run, event, items.data_text(small), moved)


def whole_event(run_id: str, item: Item, payloads: PayloadStore) -> Event:
    """The event with its references resolved. Raises `PayloadMissing`."""
    event = what_is_left(run_id, item, payloads)
    if event.gone:
        reference = event.data[event.gone[0]]["payload"]
        raise PayloadMissing(run_id, payload_key(run_id, reference["digest"], event.write_id))
    return event


def what_is_left(run_id: str, item: Item, payloads: PayloadStore) -> Event:
    """The event with those of its references resolved whose payloads are there; the others stay, and are named."""
    event = items.read_event(item)
    moved = items.moved_fields(item)
    if not moved:
        return event
    fetched, gone = dict[str, Any](), list[str]()
    for name in moved:
        try:
            fetched[name] = _fetch(event.data[name], run_id, event.write_id, payloads)
        except KeyError:
            gone.append(name)
    return replace(event, data={**event.data, **fetched}, gone=tuple(gone))


def kept_payload(run_id: str, digest: str, payloads: PayloadStore) -> bytes | None:
    """What a reference of the run stands for. Several writers may have kept it; the same digest is the same JSON."""
    key = payloads.first_under(payload_key(run_id, digest, ""))
    if key is None:
        return None
    try:
        return payloads.get(key)
    except KeyError:
        # Archived between the two requests.
        return None


def keep(value: Any, run_id: str, write_id: str, payloads: PayloadStore) -> dict[str, Any]:
    """Keep a value as a payload of the run; what refers to it. The same again, by the same writer, is one."""
    body = items.data_text(value).encode()
    digest = hashlib.sha256(body).hexdigest()
    payloads.put(payload_key(run_id, digest, write_id), body)
    return {"payload": {"digest": digest, "bytes": len(body)}}


def keep_text(run_id: str, write_id: str, text: str, *, payloads: PayloadStore) -> str:
    """The same of a text that no event carries; its digest."""
    return str(keep(text, run_id, write_id, payloads)["payload"]["digest"])


def _move_largest(event: Event, run_id: str, excess: int, payloads: PayloadStore) -> tuple[dict[str, Any], list[str]]:
    """The data with its largest fields replaced by references until `excess` is gone, and the names of those fields."""
    small, moved = dict(event.data), list[str]()
    for name in sorted(small, key=lambda name: _size(small[name]), reverse=True):
        if excess <= 0:
            break
        reference = keep(small[name], run_id, event.write_id, payloads)
        excess -= _size(small[name]) - _size(reference)
        small[name] = reference
        moved.append(name)
    return small, moved


def _size(value: Any) -> int:
    return len(items.data_text(value).encode())


def _fetch(reference: Mapping[str, Any], run_id: str, write_id: str, payloads: PayloadStore) -> Any:
    return json.loads(payloads.get(payload_key(run_id, reference["payload"]["digest"], write_id)))
