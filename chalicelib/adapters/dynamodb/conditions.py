"""The conditions of the store's writes, each named by what it says of the item, and the spelling of updates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.run import Run

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Attribute

_NAME = re.compile(r"#(\w+)")


@dataclass(frozen=True, slots=True)
class Expression:
    """Attributes are spelled `#name`, so that no reserved word is ever met; `values` hold what `:name` stands for."""

    text: str
    values: Mapping[str, Attribute] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        return {f"#{name}": name for name in _NAME.findall(self.text)}


NOTHING_STANDS_THERE = Expression(f"attribute_not_exists(#{keys.PK})")
SOMETHING_STANDS_THERE = Expression(f"attribute_exists(#{keys.PK})")


def nobody_moved_it(before: Run, guards: tuple[str, ...]) -> Expression:
    """The fields that `guards` names are as they were read."""
    was = {name: items.run_attribute(before, name) for name in guards}
    return Expression(
        " AND ".join(
            f"attribute_not_exists(#{n})" if value is None else f"#{n} = :was_{n}" for n, value in was.items()
        ),
        {f":was_{name}": value for name, value in was.items() if value is not None},
    )


def it_is_held(run: Run) -> Expression:
    """The run's attempt is still the one that holds it."""
    return Expression("#attempt = :held_by AND attribute_exists(#lease_until)", {":held_by": items.number(run.attempt)})


def it_is_held_no_longer_than(run: Run) -> Expression:
    """The same, and the lease that is there ends no later than the run's, so that a late renewal shortens nothing."""
    assert run.lease_until is not None, "a renewal has a lease"
    held = it_is_held(run)
    until = {":no_longer_than": items.moment(run.lease_until)}
    return Expression(f"{held.text} AND #lease_until <= :no_longer_than", {**held.values, **until})


def it_goes_on_and_is_watched_less_than(until: datetime) -> Expression:
    """There is such a run, it has not ended, and nobody noted a later `watched_until`."""
    return Expression(
        f"attribute_exists(#{keys.PK}) AND attribute_not_exists(#ended_at)"
        " AND (attribute_not_exists(#watched_until) OR #watched_until < :watched_before)",
        {":watched_before": items.moment(until)},
    )


def it_counts_no_more(now: datetime) -> Expression:
    """There is no idempotency key, or its time has passed; TTL deletes days later."""
    return Expression(
        f"{NOTHING_STANDS_THERE.text} OR #{keys.TTL} <= :now", {":now": items.number(int(now.timestamp()))}
    )


def its_cursor_is(sent: int) -> Expression:
    """The watch is there, and nobody has moved its cursor."""
    return Expression("#sent = :was_sent", {":was_sent": items.number(sent)})


IT_HAS_ENDED_AND_IS_NOT_DELETED = Expression("attribute_exists(#ended_at) AND attribute_not_exists(#deleted_at)")

IT_IS_TO_BE_ARCHIVED = Expression(f"{IT_HAS_ENDED_AND_IS_NOT_DELETED.text} AND attribute_not_exists(#archived_at)")

IT_IS_DELETED = Expression("attribute_exists(#deleted_at)")

IT_IS_THERE = Expression(f"attribute_exists(#{keys.PK})")

IT_IS_LISTED = Expression(f"attribute_exists(#{keys.PK}) AND attribute_not_exists(#unlisted_at)")


def its_newest_version_is(version: int) -> Expression:
    """The agent has that many versions; 0 for an agent that is not there."""
    if version == 0:
        return NOTHING_STANDS_THERE
    return Expression("#version = :newest", {":newest": items.number(version)})


def there_are_so_many(count: int) -> Expression:
    """The run has that many artifacts; 0 for one that never had any."""
    if count == 0:
        return NOTHING_STANDS_THERE
    return Expression("#count = :counted", {":counted": items.number(count)})


IT_IS_NOT_REVOKED = Expression(f"attribute_exists(#{keys.PK}) AND attribute_not_exists(#revoked_at)")


def it_signs_with(secret: str) -> Expression:
    """There is such a webhook, and that is its secret."""
    return Expression("#secret = :signs_with", {":signs_with": items.text(secret)})


def it_goes_to(url: str) -> Expression:
    """There is such a webhook, that is its URL, and nobody has disabled it."""
    return Expression("#url = :goes_to AND attribute_not_exists(#disabled_at)", {":goes_to": items.text(url)})


def setting(attributes: Mapping[str, Attribute | None]) -> Expression:
    """An update that sets these attributes, and removes those that are None."""
    sets = [f"#{name} = :{name}" for name, value in attributes.items() if value is not None]
    removes = [f"#{name}" for name, value in attributes.items() if value is None]
    parts = [("SET", sets), ("REMOVE", removes)]
    return Expression(
        " ".join(f"{verb} {', '.join(terms)}" for verb, terms in parts if terms),
        {f":{name}": value for name, value in attributes.items() if value is not None},
    )
