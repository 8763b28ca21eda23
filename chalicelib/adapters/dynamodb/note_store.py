"""Notes in DynamoDB."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from chalicelib.adapters.aws.retry import Retry
from chalicelib.adapters.dynamodb import items, keys
from chalicelib.adapters.dynamodb.conditions import NOTHING_STANDS_THERE, Expression
from chalicelib.adapters.dynamodb.table import Put, Refused, Table
from chalicelib.core.note import Note
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from chalicelib.adapters.dynamodb.items import Attribute, Item


class DynamoNoteStore:
    """A `NoteStore`."""

    def __init__(self, client: DynamoDBClient, table: str, *, clock: Clock, chance: Chance) -> None:
        self._table = Table(client, table, Retry(clock, chance))

    def write(self, account_id: str, note: Note) -> None:
        told = {
            "text": items.text(note.text),
            "written_at": items.moment(note.written_at),
            "untrusted": _flag(note.untrusted),
        }
        put = Put(items.key(keys.note(account_id, note.name)) | told, _it_is_not_newer_than(note))
        with suppress(Refused):
            # Somebody has written since: a write that comes late, or again, is as if it had come in its time.
            self._table.put(put)

    def read(self, account_id: str, name: str) -> Note | None:
        item = self._table.get(keys.note(account_id, name))
        return _note(name, item) if item else None

    def all(self, account_id: str, limit: int) -> Sequence[Note]:
        found = self._table.query(_of_account(account_id), limit=limit, strong=True)
        notes = [_note(_name(item), item) for item in found.items]
        while found.last and len(notes) < limit:
            found = self._table.query(_of_account(account_id), limit=limit, strong=True, after=found.last)
            notes += [_note(_name(item), item) for item in found.items]
        return notes[:limit]

    def delete(self, account_id: str, name: str) -> None:
        self._table.delete(keys.note(account_id, name))


def _of_account(account_id: str) -> Expression:
    return Expression(f"#{keys.PK} = :notes", {":notes": items.text(keys.notes(account_id))})


def _it_is_not_newer_than(note: Note) -> Expression:
    return Expression(
        f"{NOTHING_STANDS_THERE.text} OR #written_at <= :written", {":written": items.moment(note.written_at)}
    )


def _note(name: str, item: Item) -> Note:
    # Of a note without the mark nobody knows what its writer had read.
    untrusted = item.get("untrusted", _flag(True))["BOOL"]
    return Note(name, item["text"]["S"], items.read_moment(item["written_at"]), untrusted)


def _flag(value: bool) -> Attribute:
    return {"BOOL": value}


def _name(item: Item) -> str:
    return keys.note_name(item[keys.SK]["S"])
