"""When text is written down."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.core.coalesce import FULL, UNWATCHED, WATCHED, Batch
from tests.core.a_log import NOON

LATER = NOON + timedelta(seconds=1)


def a_batch_that_wrote() -> Batch:
    batch = Batch()
    batch.add("first", NOON)
    batch.take()
    return batch


def test_the_first_token_goes_out_at_once() -> None:
    batch = Batch()
    batch.add("Hi", NOON)
    assert batch.due(watched=False) == NOON


def test_an_empty_batch_is_never_due() -> None:
    assert Batch().due(watched=True) is None
    assert a_batch_that_wrote().due(watched=True) is None


def test_later_text_waits_for_more_shorter_if_somebody_watches() -> None:
    batch = a_batch_that_wrote()
    batch.add("a", LATER)
    batch.add("b", LATER + timedelta(milliseconds=150))
    assert batch.due(watched=True) == LATER + WATCHED
    assert batch.due(watched=False) == LATER + UNWATCHED


def test_a_full_batch_does_not_wait() -> None:
    batch = a_batch_that_wrote()
    batch.add("é" * (FULL // 2), LATER)
    assert batch.due(watched=False) == LATER


def test_taking_the_text_empties_the_batch() -> None:
    batch = a_batch_that_wrote()
    batch.add("a", LATER)
    batch.add("b", LATER)
    assert (batch.take(), batch.take()) == ("ab", "")
