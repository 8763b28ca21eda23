"""Values to items and back."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import pytest

from chalicelib.adapters.dynamodb import items, keys
from chalicelib.core.events import SCHEMA_VERSION, Event, EventType
from chalicelib.core.run import Run, RunWebhook, Slot, Status
from tests.builders import NOON, a_key, a_run, an_event


def a_full_run() -> Run:
    later = NOON + timedelta(seconds=1, microseconds=234567)
    return a_run(
        status=Status.WAITING,
        metadata={"team": "research", "": "ü"},
        webhook=RunWebhook("https://mine.example.com/", "ops"),
        attempt=3,
        start=2,
        lease_until=later,
        due_at=later,
        waiting_for="provider",
        waiting_seq=17,
        wake_at=later,
        wake_seq=18,
        token="t" * 600,
        asks=("ap_16", "ap_17"),
        slot=Slot.WANTED,
        watched_until=later,
        first_token_at=later,
        ended_at=later,
        archived_at=later,
        deleted_at=later,
    )


def test_a_run_comes_back_as_it_was() -> None:
    assert items.read_run(items.run_item(a_full_run())) == a_full_run()
    assert items.read_run(items.run_item(a_run())) == a_run()


def test_no_field_of_a_run_is_forgotten() -> None:
    full = a_full_run()

    assert all(getattr(full, field.name) is not None for field in fields(Run))
    assert {field.name for field in fields(Run)} <= items.run_item(full).keys()


def test_neither_a_run_nor_an_event_expires_by_itself() -> None:
    event = an_event(1)

    assert keys.TTL not in items.event_item(a_run(), event, items.data_text(event.data))
    assert keys.TTL not in items.run_item(a_full_run())


@pytest.mark.parametrize("microsecond", [0, 1, 123000, 999999])
def test_times_are_exact(microsecond: int) -> None:
    at = NOON.replace(microsecond=microsecond)

    assert items.read_moment(items.moment(at)) == at


def test_times_sort_as_text_whatever_their_zone() -> None:
    east = timezone(timedelta(hours=5))
    times = [NOON, NOON.astimezone(east) + timedelta(microseconds=1), NOON + timedelta(seconds=1)]
    kept = [items.moment(at)["S"] for at in times]

    assert kept == sorted(kept)
    assert items.read_moment(items.moment(times[1])).tzinfo == UTC


def kept(event: Event) -> items.Item:
    return items.event_item(a_run(), event, items.data_text(event.data))


def test_an_event_comes_back_as_it_was() -> None:
    event = an_event(7, EventType.TOOL_FINISHED, ok=True, content="", nested={"a": [1, None, 2.5]}, nothing=None)

    assert items.read_event(kept(event)) == event


@pytest.mark.parametrize("text", ["", "'\"\\\n\x00", "日本語 🦊", "half a pair: \ud83e", "\udd8a"])
def test_every_text_that_a_model_can_send_comes_back(text: str) -> None:
    item = kept(an_event(1, text=text))

    assert item["data"]["S"].encode()
    assert items.read_event(item).data == {"text": text}


def test_an_event_says_all_that_a_reader_needs_and_never_expires() -> None:
    item = kept(an_event(7, text="hi"))

    assert item[keys.SK]["S"] == "EVENT#0000000007"
    assert item["v"]["N"] == str(SCHEMA_VERSION)
    assert item["account_id"]["S"] == "acme"
    assert keys.TTL not in item


def test_only_an_unfinished_run_is_in_the_index_of_what_is_due() -> None:
    assert keys.DUE_PK in items.run_item(a_run())
    assert not {keys.DUE_PK, keys.DUE_SK} & items.run_item(a_run(due_at=None)).keys()


def test_a_change_holds_only_what_differs() -> None:
    changed = items.changed_attributes(a_run(), a_run(status=Status.FAILED, due_at=None))

    assert changed == {"status": {"S": "failed"}, "due_at": None, keys.DUE_PK: None, keys.DUE_SK: None}


def test_a_key_comes_back_as_it_was() -> None:
    revoked = a_key(revoked_at=datetime(2026, 2, 1, tzinfo=UTC), scopes=frozenset())

    assert items.read_key(items.key_item(a_key())) == a_key()
    assert items.read_key(items.key_item(revoked)) == revoked
