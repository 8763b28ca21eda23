"""What happens in a search, in words."""

from __future__ import annotations

from tests.model.table import LOST, MOVED, NO_SLOT, Call, Result, Shelf

_FAULTS = {LOST: "the lease is lost", MOVED: "the run moved", NO_SLOT: "no slot"}


def told(shelf: Shelf, call: Call, result: Result | None = None) -> str:
    """A call in words."""
    events = [shelf.events[each] for each in _events_of(call)]
    what = " ".join([call.kind, *(f"{event.type}@{event.seq}" for event in events)])
    if call.kind in ("effect", "wake", "start", "keep token"):
        what += f" {call.args[-1]}"
    if result is None or result[0] in ("ok", "run", "events", "event"):
        return what
    if result[0] == "collision":
        found = shelf.events[result[1]]
        return f"{what}: {found.type} of attempt {found.attempt} stands there"
    return f"{what}: {_FAULTS.get(result, result[0])}"


def _events_of(call: Call) -> tuple[int, ...]:
    if call.kind == "commit":
        return tuple(call.args[2])
    return call.args[:1] if call.kind == "append" else ()
