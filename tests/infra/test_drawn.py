"""What the docs show of the code."""

from __future__ import annotations

import pytest

from infra.drawn import PAGE, PARTS, drawn


@pytest.mark.parametrize("part", [*PARTS])
def test_the_page_shows_what_the_code_draws_today(part: str) -> None:
    assert PARTS[part]() in PAGE.read_text()


def test_drawing_again_changes_nothing() -> None:
    page = PAGE.read_text()
    assert drawn(page) == page


def test_every_module_says_what_it_is_for() -> None:
    rows = PARTS["modules"]().splitlines()
    assert not [row for row in rows if row.endswith("|  |")]
