"""The table of prices in docs/delivery.md is what the script computes."""

from __future__ import annotations

import pytest

from bench import prices
from bench.cloud import ROOT
from bench.prices import Row, polling, rows


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.way)
def test_the_document_has_the_prices_that_are_computed(row: Row) -> None:
    lines = (ROOT / "docs" / "delivery.md").read_text(encoding="utf-8").splitlines()

    assert f"| {' | '.join(str(cell) for cell in prices.cells(row).values())} |" in lines


def test_an_hour_of_polling_is_its_requests_its_lambdas_and_its_reads() -> None:
    row = polling("", every=2, request=3.5e-6, seconds=0.02)

    assert row.usd == pytest.approx(1800 * (3.5e-6 + 0.2e-6 + 0.02 * 0.25 * 0.0000133334 + 0.0625e-6))
