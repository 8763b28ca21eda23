"""The table of events in docs/delivery.md, held against the code and against what runs write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chalicelib.adapters.models.scripted import Dies, Refuses, Script, Silent, Turn, Unavailable
from chalicelib.core.events import ENDS, SPARABLE, EventType
from tests.usecases.conftest import OpenWorkshop
from tests.usecases.test_approvals import answer, asking
from tests.usecases.workshop import Tool, Workshop, asks

DOCUMENT = Path(__file__).parents[2] / "docs" / "delivery.md"
IN_NO_LOG = {"trouble"}


class Row(NamedTuple):
    fields: frozenset[str]
    """Every name in its description of `data`."""
    spared: bool
    last: bool


def table() -> dict[str, Row]:
    rows = {}
    section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Events\n")[2].partition("\n## ")[0]
    for line in section.splitlines():
        if found := re.fullmatch(r"\| `([a-z._]+)` \| (.*) \| (.*) \|", line):
            name, told, dropped = found.groups()
            assert name not in rows, f"{name} stands there twice"
            rows[name] = Row(frozenset(re.findall(r"`(\w+)`", told)), "**yes**" in dropped, "the last" in dropped)
    return rows


def test_every_type_of_event_stands_in_the_table_and_nothing_else() -> None:
    assert set(table()) == {*EventType} | IN_NO_LOG


@pytest.mark.parametrize("type", EventType)
def test_what_the_table_lets_be_dropped_is_what_the_code_spares_a_slow_client(type: EventType) -> None:
    row = table()[type]

    assert row.spared is (type in SPARABLE)
    assert row.last is (type in ENDS)


@pytest.mark.parametrize(
    "script",
    [
        (asks("look", text="Let me see."), Turn(text="Blue.")),
        (Turn(text="one two three", fault=Dies(times=1)),),
        (Turn(text="back", fault=Unavailable(times=3)),),
        (Turn(text="x", fault=Refuses("no such model")),),
        (Turn(text="a b c", fault=Silent(60, after=1)),),
    ],
    ids=["tools", "reset", "waits", "fails", "cancelled"],
)
def test_what_runs_write_is_what_the_table_says(script: Script, workshop: OpenWorkshop) -> None:
    shop = workshop(script, [Tool()])
    shop.at(40, shop.cancel)
    shop.advance()
    shop.time.advance(30)
    shop.advance()

    assert_told(shop)


@pytest.mark.parametrize(
    "given",
    [
        {"decision": "approve", "grant": True},
        {"decision": "edit", "args": {"to": "Ann"}},
        {"decision": "deny", "note": "not today"},
    ],
    ids=["approved", "edited", "denied"],
)
def test_what_is_asked_and_answered_is_what_the_table_says(given: dict[str, Any], workshop: OpenWorkshop) -> None:
    shop = asking(workshop)
    answer(shop, **given)
    shop.advance()

    assert {*shop.words} >= {"approval.requested", "approval.resolved", "tool.finished"}
    assert_told(shop)


def assert_told(shop: Workshop) -> None:
    rows = table()
    for event in shop.log:
        assert set(event.data) <= rows[event.type].fields, event.type
