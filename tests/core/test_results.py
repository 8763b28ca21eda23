"""A model is shown the beginning and the end of what is too long, and told where the rest is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core import results
from chalicelib.core.results import LARGEST_KEPT

DIGEST = "d" * 64


def test_what_fits_is_measured_in_bytes() -> None:
    assert results.fits("é" * 50, 100)
    assert not results.fits("é" * 51, 100)


def test_head_and_tail_are_shown_and_where_the_whole_is() -> None:
    shown = results.shortened("a" * 5_000 + "b" * 5_000, 1_000, DIGEST)

    assert shown.startswith("a" * 500)
    assert shown.endswith("b" * 250)
    assert f"of 10000 bytes are left out here; the whole is kept as payload {DIGEST} of this run]" in shown


@given(st.text(st.sampled_from("aé€😀\n"), min_size=300, max_size=1_000), st.integers(200, 280))
def test_what_is_shown_never_exceeds_its_bytes_nor_breaks_a_character(content: str, most: int) -> None:
    shown = results.shortened(content, most, DIGEST)

    assert len(shown.encode()) <= most
    head, _, rest = shown.partition("\n[")
    tail = rest.rpartition("]\n")[2]
    assert content.startswith(head)
    assert content.endswith(tail)


def test_what_is_left_out_is_counted_exactly() -> None:
    content = "é" * 1_000
    shown = results.shortened(content, 501, DIGEST)

    head, _, rest = shown.partition("\n[")
    said, tail = int(rest.split()[0]), rest.rpartition("]\n")[2]
    assert said == len(content.encode()) - len(head.encode()) - len(tail.encode())


@pytest.mark.parametrize(("over", "said"), [(0, "the whole is kept"), (1, f"the first {LARGEST_KEPT} bytes are kept")])
def test_f13_what_is_beyond_the_hard_cap_is_lost_and_said_to_be(over: int, said: str) -> None:
    content = "x" * (LARGEST_KEPT + over)

    assert len(results.kept(content)) == LARGEST_KEPT
    assert said in results.shortened(content, 1_000, DIGEST)


def test_f13_half_a_character_becomes_a_question_mark() -> None:
    assert results.clean("a\ud83dé") == "a?é"
