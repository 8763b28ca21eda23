"""Every rule is needed: without it the search finds how a promise is broken. `-s` prints the stories."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model.explore import Search
from tests.model.slot_variants import SLOT_VARIANTS
from tests.model.table import Rules
from tests.model.variants import VARIANTS, Variant

PROTOCOL = Path(__file__).parents[2] / "docs" / "protocol.md"

ALL = (*VARIANTS, *SLOT_VARIANTS)
AT_MOST = 10_000
"""States; the shortest story of each rule is found long before."""


@pytest.mark.parametrize("variant", ALL, ids=lambda variant: variant.without)
def test_without_it_a_promise_is_broken(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        variant.patch(patch)
        searched = Search(variant.scenario, AT_MOST).run()
    print(f"\nWithout {variant.without}:\n{searched.flaw}")
    assert searched.flaw is not None
    assert variant.breaks in searched.flaw.broken
    as_it_is = replace(variant.scenario, rules=Rules())
    assert Search(as_it_is, searched.states).run().flaw is None, "with the rule in its place, nothing breaks as near"


def test_docs_protocol_tells_of_every_rule_and_of_no_other() -> None:
    searched, _, _ = PROTOCOL.read_text().partition("### Delivery by socket")
    told = re.findall(r"^\| ([^|]+) \| [A-Z]", searched, re.MULTILINE)
    assert sorted(told) == sorted(variant.without for variant in ALL)
