"""The index of what is due, read: unfinished runs for the sweeper, ended ones for the archiver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Table
from chalicelib.core.run import Run

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item


def listed(table: Table, shards: Iterable[str], until: datetime, limit: int) -> Sequence[Run]:
    """At most `limit` runs that stand in these shards for a time up to `until`, the earliest first.

    The index lags and is coarse: these are the runs themselves, read strongly, and they say whether they are due.
    """
    earliest = entries(table, shards, until, limit)
    found = (table.get(keys.run(keys.run_id_of(item[keys.PK]["S"]))) for item in earliest)
    return [items.read_run(item) for item in found if item]


def entries(table: Table, shards: Iterable[str], until: datetime, limit: int) -> Sequence[Item]:
    """The keys of at most `limit` items that stand in these shards for a time up to `until`, the earliest first."""
    found = [table.query(_before(shard, until), index=keys.BY_DUE, limit=limit).items for shard in shards]
    return sorted(chain.from_iterable(found), key=lambda item: item[keys.DUE_SK]["S"])[:limit]


def _before(shard: str, until: datetime) -> Expression:
    """The shard's entries of that minute and of those before it."""
    return Expression(
        f"#{keys.DUE_PK} = :shard AND #{keys.DUE_SK} < :next_minute",
        {":shard": items.text(shard), ":next_minute": items.text(keys.due_minute(until + timedelta(minutes=1)))},
    )
