"""Clients of real life, with broken lines: a short run of bench/clients.py."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from bench.clients import Place, measure, places
from bench.cloud import Cloud, a_cloud
from bench.growing import Growing
from bench.seen import judged

LENGTH, EVERY = 80, 0.04


@pytest.fixture(scope="module")
def cloud() -> Iterator[Cloud]:
    with a_cloud() as cloud:
        yield cloud


@pytest.fixture(scope="module")
def both(cloud: Cloud) -> Iterator[dict[str, Place]]:
    with places(cloud) as both:
        yield {place.form: place for place in both}


@pytest.mark.parametrize(
    ("form", "clients", "drops"), [("buffered", ["httpx-sse"], 10), ("streamed", ["httpx-sse"], 4)]
)
def test_clients_whose_lines_break_miss_nothing_and_without_a_cursor_see_events_twice(
    form: str, clients: list[str], drops: int, cloud: Cloud, both: dict[str, Place]
) -> None:
    rows = measure(cloud, both[form], clients, LENGTH, drops, EVERY)

    assert [row.client for row in rows] == clients
    for row in rows:
        assert (row.drops, row.seen.received) == (drops, LENGTH)
        assert row.seen.whole
        assert row.doubled_without


def test_a_log_grows_no_faster_than_lines_are_broken(cloud: Cloud) -> None:
    run, asked = Growing(cloud), list[int]()

    def too_soon(tail: int) -> bool:
        asked.append(tail)
        return tail == 2 and asked.count(2) < 5

    run.grow(6, 0, threading.Event(), too_soon)

    assert [asked.count(tail) for tail in range(4)] == [1, 1, 5, 1]
    assert run.tail == 5


def test_what_is_missing_doubled_or_out_of_order_is_seen() -> None:
    assert judged([0, 1, 2, 3], 4).whole
    assert judged([0, 1, 3], 4).missing == 1
    assert judged([0, 1, 1, 2, 3], 4).doubled == 1
    assert not judged([0, 2, 1, 3], 4).whole
