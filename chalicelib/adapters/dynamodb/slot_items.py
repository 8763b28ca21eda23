"""An account's slots as an item, and what a run's writes do to it. The item's conditions keep the count.

`holders` and `resuming` are sets of run ids; `lined_up_at` says when a run last found no slot.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Alter
from chalicelib.core import slots
from chalicelib.core.run import Run
from chalicelib.core.slots import Slots, Use

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Attribute, Item

_HOLDS = "contains(#holders, :run_id)"
_FULL = "(attribute_exists(#holders) AND size(#holders) >= :cap)"
_ROOM = "(attribute_not_exists(#holders) OR size(#holders) < :cap)"
_LISTED = f"#{keys.DUE_PK} = :shard, #{keys.DUE_SK} = if_not_exists(#{keys.DUE_SK}, :due)"
"""From the first run at work on the slots are looked at, until nothing of them is left."""

IT_IS_EMPTY = Expression(
    "attribute_not_exists(#holders) AND attribute_not_exists(#resuming) AND attribute_not_exists(#lined_up_at)"
)


def written(before: Run, after: Run, at: datetime, cap: int) -> list[Alter]:
    """What goes into the transaction of a run's change: nothing, or one update of its account's slots."""
    match slots.use(before, after):
        case Use.TAKE:
            return [_taken(before, at, cap)]
        case Use.LINE_UP:
            return [_lined_up(before, at, cap)]
        case Use.FREE:
            return [freed(before.account_id, before.run_id)]
        case None:
            return []


def _taken(run: Run, at: datetime, cap: int) -> Alter:
    """There is room, and nobody goes first. A run that holds its slot already may have it again."""
    free = _ROOM if slots.resumes(run) else f"({_ROOM} AND attribute_not_exists(#resuming))"
    change = f"SET {_LISTED} ADD #holders :run DELETE #resuming :run"
    return _alter(run, change, f"{_HOLDS} OR {free}", at, {":run_id": items.text(run.run_id), **_limit(cap)})


def _lined_up(run: Run, at: datetime, cap: int) -> Alter:
    """There is no room, or somebody goes first: a slot that was freed meanwhile is not overlooked."""
    lined_up = {":at": items.moment(at), **_limit(cap)}
    if slots.resumes(run):
        change = f"SET {_LISTED}, #lined_up_at = :at ADD #resuming :run"
        return _alter(run, change, _FULL, at, lined_up)
    change, taken = f"SET {_LISTED}, #lined_up_at = :at", f"attribute_exists(#resuming) OR {_FULL}"
    return Alter(keys.slots(run.account_id), Expression(change, _listing(run, at)), Expression(taken, lined_up))


def freed(account_id: str, run_id: str) -> Alter:
    """The slots without the run, whatever it had of them."""
    return Alter(keys.slots(account_id), Expression("DELETE #holders :run, #resuming :run", {":run": {"SS": [run_id]}}))


def read(account_id: str, item: Item | None) -> Slots:
    """The slots; empty where there is no item."""
    found = item or {}
    return Slots(
        account_id,
        frozenset(found["holders"]["SS"]) if "holders" in found else frozenset(),
        frozenset(found["resuming"]["SS"]) if "resuming" in found else frozenset(),
        items.read_moment(found["lined_up_at"]) if "lined_up_at" in found else None,
        keys.DUE_PK in found,
    )


def _alter(run: Run, change: str, condition: str, at: datetime, values: dict[str, Attribute]) -> Alter:
    of_change: dict[str, Attribute] = {":run": {"SS": [run.run_id]}, **_listing(run, at)}
    return Alter(keys.slots(run.account_id), Expression(change, of_change), Expression(condition, values))


def _listing(run: Run, at: datetime) -> dict[str, Attribute]:
    shard, due = keys.slots_shard(run.account_id), keys.due_sk(at, run.account_id)
    return {":shard": items.text(shard), ":due": items.text(due)}


def _limit(cap: int) -> dict[str, Attribute]:
    return {":cap": items.number(cap)}
