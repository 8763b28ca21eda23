"""Every rule is needed: without it the search finds how a promise is broken. `-s` prints the stories."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.model.effect_variants import EFFECT_VARIANTS
from tests.model.explore import Search
from tests.model.slot_variants import SLOT_VARIANTS
from tests.model.table import Rules
from tests.model.variants import VARIANTS, Variant

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "docs" / "protocol.md"

ALL = (*VARIANTS, *EFFECT_VARIANTS, *SLOT_VARIANTS)
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
    searched, _, _ = PROTOCOL.read_text().partition("### Rules whose loss")
    told = re.findall(r"^\| ([^|]+) \| [A-Z]", searched, re.MULTILINE)
    assert sorted(told) == sorted(variant.without for variant in ALL)


def test_what_docs_protocol_calls_a_test_is_one() -> None:
    """For each rule outside the checker it names at least one."""
    _, _, outside = PROTOCOL.read_text().partition("### Outside the checker")
    table, _, _ = outside.partition("###")
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    named = [re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row) for row in rows]
    assert rows
    assert all(named)
    assert not [(path, test) for tests in named for path, test in tests if test not in _tests_in(ROOT / path)]


def _tests_in(module: Path) -> set[str]:
    return {each.name for each in ast.parse(module.read_text()).body if isinstance(each, ast.FunctionDef)}
