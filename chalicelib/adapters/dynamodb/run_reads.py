"""How runs and their logs are read."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chalicelib.adapters.dynamodb import archives, due_index, items, keys, payloads
from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Table
from chalicelib.core import cursor, ids, snapshot
from chalicelib.core.errors import InvalidInput
from chalicelib.core.events import Event
from chalicelib.core.run import Run, Status
from chalicelib.ports.payload_store import PayloadStore
from chalicelib.ports.run_store import Page

if TYPE_CHECKING:
    from chalicelib.adapters.dynamodb.items import Item

_ReadsEvent = Callable[[str, "Item", PayloadStore], Event]

LOOKS, LOOKED_AT = 5, 100
"""A list of one status makes at most so many Queries, of so many runs each, before it gives what it has."""


class RunReads:
    """The half of `DynamoRunStore` that changes nothing."""

    def __init__(self, table: Table, payloads: PayloadStore) -> None:
        self._table = table
        self._payloads = payloads

    def look_up(self, run_id: str) -> Run | None:
        """The run alone, read strongly; one that was deleted and is not erased yet, too."""
        item = self._table.get(keys.run(run_id))
        return items.read_run(item) if item else None

    def page(self, run_id: str, since: int, limit: int, *, strong: bool = False) -> Page:
        """One Query: the event at the cursor, at most `limit` events after it, and the run behind them."""
        most = limit if since == cursor.START else limit + 1
        found = self._table.query(_log_and_run(run_id, max(since, 0)), limit=most + 1, strong=strong).items
        events = tuple(items.read_event(item) for item in found if not items.is_run(item))
        if _is_hidden(found):
            return Page((), None, None)
        reached = bool(found) and items.is_run(found[-1]) and len(events) <= most
        return Page(
            events=events[:most],
            run=items.read_run(found[-1]) if reached else None,
            account_id=items.account_of(found[0]) if found else None,
        )

    def log(self, run_id: str, since: int = cursor.START) -> tuple[Run | None, list[Event]]:
        """The run and the unbroken prefix of its log after `since`, read strongly, however many pages that takes.

        Raises `PayloadMissing`.
        """
        return self._log(run_id, since, payloads.whole_event)

    def remains(self, run_id: str) -> tuple[Run | None, list[Event]]:
        """The same of a whole log, for whoever only ends the run: what is gone of an event is named in it."""
        return self._log(run_id, cursor.START, payloads.what_is_left)

    def _log(self, run_id: str, since: int, read: _ReadsEvent) -> tuple[Run | None, list[Event]]:
        found = self._table.query_all(_log_and_run(run_id, cursor.following(since)), strong=True)
        if not found or not items.is_run(found[-1]) or _is_hidden(found):
            return None, []
        events = (read(run_id, item, self._payloads) for item in found[:-1])
        return items.read_run(found[-1]), list(cursor.unbroken(events, since))

    def tail(self, run_id: str) -> tuple[Run, Event] | None:
        """The run and the last event of its log, read strongly by one Query from the end.

        What is gone of the event is named in it. Of a run whose log is gone, it comes from the archive.
        """
        found = self._table.query(_log_and_run(run_id, 0), limit=2, strong=True, backwards=True).items
        match found:
            case _ if _is_hidden(found[:1]):
                return None
            case [run, event] if items.is_run(run):
                return items.read_run(run), payloads.what_is_left(run_id, event, self._payloads)
            case [run] if items.is_run(run):
                archive = self.archive(run_id)
                end = snapshot.end(archive) if archive else None
                return (items.read_run(run), end) if end else None
            case _:
                return None

    def archive(self, run_id: str) -> Event | None:
        """The snapshot that stands for the run's whole log, read strongly; None if the run was never archived."""
        item = self._table.get(keys.archive(run_id))
        return archives.read_archive(item, self._payloads) if item else None

    def payload(self, run_id: str, digest: str) -> bytes | None:
        """The JSON that an event of the run refers to by its digest; None if there is none."""
        return payloads.kept_payload(run_id, digest, self._payloads)

    def of_account(
        self, account_id: str, status: Status | None, limit: int, after: str | None
    ) -> tuple[Sequence[Run], str | None]:
        """The account's runs as the index shows them, newest first, and where the next page begins."""
        last = _place(account_id, _read_next(after)) if after is not None else None
        runs: list[Run] = []
        for _ in range(LOOKS):
            found = self._table.query(
                _of_account(account_id),
                index=keys.BY_ACCOUNT,
                only=_of_status(status) if status else None,
                limit=LOOKED_AT if status else limit + 1,
                after=last,
                backwards=True,
            )
            runs += [items.read_run(item) for item in found.items]
            last = found.last
            if last is None or len(runs) > limit:
                break
        if len(runs) > limit:
            return runs[:limit], _next(runs[limit - 1].run_id)
        return runs, _next(keys.run_id_of(last[keys.PK]["S"])) if last else None

    def asking(self, account_id: str, limit: int, after: str | None) -> tuple[Sequence[str], str | None]:
        """The ids of the account's runs with open approvals, oldest first, and where the next page begins."""
        found = self._table.query(
            _asking(account_id),
            index=keys.BY_INBOX,
            limit=limit,
            after=_inbox_place(account_id, _read_next(after)) if after else None,
        )
        run_ids = [keys.run_id_of(item[keys.PK]["S"]) for item in found.items]
        return run_ids, _next(run_ids[-1]) if found.last else None

    def due(self, now: datetime, limit: int) -> Sequence[Run]:
        """At most `limit` unfinished runs whose `due_at` has passed, the longest overdue first."""
        found = due_index.listed(self._table, keys.due_shards(), now, limit)
        overdue = [(run.due_at, run) for run in found if run.due_at]
        return [run for due_at, run in sorted(overdue, key=lambda pair: pair[0]) if due_at <= now]


def _is_hidden(found: Sequence[Item]) -> bool:
    """Whether the run, which stands behind its events, was deleted: then nothing of it is to be seen."""
    return bool(found) and items.is_run(found[-1]) and "deleted_at" in found[-1]


def _log_and_run(run_id: str, first_seq: int) -> Expression:
    """The events from `first_seq` on, and the run, which stands behind them all."""
    return Expression(
        f"#{keys.PK} = :run AND #{keys.SK} BETWEEN :first AND :behind",
        {
            ":run": items.text(keys.partition(run_id)),
            ":first": items.text(keys.event_sk(first_seq)),
            ":behind": items.text(keys.RUN_SK),
        },
    )


def _of_account(account_id: str) -> Expression:
    return Expression(
        f"#{keys.ACCOUNT_PK} = :account AND begins_with(#{keys.ACCOUNT_SK}, :kind)",
        {":account": items.text(keys.account(account_id)), ":kind": items.text(keys.RUNS_SK)},
    )


def _asking(account_id: str) -> Expression:
    return Expression(f"#{keys.INBOX_PK} = :account", {":account": items.text(keys.account(account_id))})


def _inbox_place(account_id: str, run_id: str) -> Item:
    index = {keys.INBOX_PK: keys.account(account_id), keys.INBOX_SK: run_id}
    return items.key(keys.run(run_id) | index)


def _of_status(status: Status) -> Expression:
    return Expression("#status = :status", {":status": items.text(status)})


def _next(run_id: str) -> str:
    """Where a page ended, spelled so that nobody reads anything into it."""
    return base64.urlsafe_b64encode(run_id.encode()).decode()


def _read_next(text: str) -> str:
    try:
        run_id = base64.b64decode(text, altchars=b"-_", validate=True).decode()
    except ValueError:
        run_id = ""
    if not ids.is_run_id(run_id):
        raise InvalidInput(
            "invalid_next", "next is not one that a list of runs gave", field="next", expected="the next of an answer"
        )
    return run_id


def _place(account_id: str, run_id: str) -> Item:
    """A place in the account's part of the index: `next` can point nowhere else."""
    index = {keys.ACCOUNT_PK: keys.account(account_id), keys.ACCOUNT_SK: keys.account_run_sk(run_id)}
    return items.key(keys.run(run_id) | index)
