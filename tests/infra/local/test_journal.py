"""The journal of `--data`: what was written is there again, torn lines and all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.local.journal import DataInUse, Journal, JournalClosed, JournalDamaged, read


def an_item(key: str, value: str | None) -> dict[str, Any]:
    return {"table": "log", "key": {"pk": {"S": key}}, "item": value and {"pk": {"S": key}, "v": {"S": value}}}


def an_object(key: str, body: bytes | None) -> dict[str, Any]:
    return {"bucket": "payloads", "key": key, "body": body}


def reopened(directory: Path) -> Journal:
    journal = Journal(directory)
    journal.close()
    return journal


def test_what_was_written_is_there_at_the_next_start(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(items=[an_item("a", "1"), an_item("b", "1")])
    journal.write(items=[an_item("a", "2")])
    journal.write(items=[an_item("b", None)])
    journal.write(objects=[an_object("x", b"\x00body\xff"), an_object("y", b"")])
    journal.write(objects=[an_object("y", None)])
    journal.write(started=[{"executionArn": "one"}, {"executionArn": "two"}])
    journal.write(ended=["one"])
    journal.close()
    kept = reopened(tmp_path).kept
    assert list(kept.items.values()) == [an_item("a", "2")]
    assert list(kept.objects.values()) == [an_object("x", b"\x00body\xff")]
    assert list(kept.executions) == ["two"]


def test_binary_attributes_come_back_as_they_were(tmp_path: Path) -> None:
    item = {"pk": {"B": b"\x00"}, "nested": {"M": {"base64": {"S": "x"}, "l": {"L": [{"BS": [b"\xff", b""]}]}}}}
    write = {"table": "log", "key": {"pk": {"B": b"\x00"}}, "item": item}
    journal = Journal(tmp_path)
    journal.write(items=[write])
    journal.close()
    assert list(reopened(tmp_path).kept.items.values()) == [write]


def test_an_empty_object_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(objects=[an_object("empty", b"")])
    journal.close()
    assert list(reopened(tmp_path).kept.objects.values()) == [an_object("empty", b"")]


def test_every_cut_of_the_last_line_loses_that_change_only_and_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(items=[an_item("a", "1")])
    journal.write(items=[an_item("b", "1"), an_item("c", "1")])
    journal.close()
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        assert list(read(path).items.values()) == [an_item("a", "1")]
    path.write_bytes(whole)
    assert len(read(path).items) == 3


def test_a_torn_line_is_gone_after_the_next_start_and_writing_goes_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(items=[an_item("a", "1")])
    journal.close()
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"items":[{"tab')
    journal = Journal(tmp_path)
    journal.write(items=[an_item("b", "1")])
    journal.close()
    assert len(reopened(tmp_path).kept.items) == 2


def test_a_start_compacts_the_journal(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(100):
        journal.write(items=[an_item("a", str(number))])
    journal.close()
    before = (tmp_path / "journal.jsonl").stat().st_size
    reopened(tmp_path)
    assert (tmp_path / "journal.jsonl").stat().st_size < before / 50


def test_damage_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b'{"items":[]}\nnonsense\n{"items":[]}\n')
    with pytest.raises(JournalDamaged, match="line 2"):
        Journal(tmp_path)


def test_two_local_clouds_cannot_share_a_directory(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(DataInUse):
        Journal(tmp_path)
    journal.close()
    reopened(tmp_path)


def test_a_closed_journal_takes_nothing_more(tmp_path: Path) -> None:
    journal = reopened(tmp_path)
    with pytest.raises(JournalClosed):
        journal.write(items=[an_item("late", "1")])
    assert not reopened(tmp_path).kept.items
