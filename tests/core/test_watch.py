"""What a socket may watch, and for how long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.core import watch
from chalicelib.core.errors import Conflict
from chalicelib.core.watch import MOST_RUNS, Watch
from tests.builders import NOON, RUN_ID, run_id


def test_a_watch_counts_until_its_ticket_expires_whether_its_item_is_there_or_not() -> None:
    until = NOON + timedelta(minutes=5)
    at = Watch("c1", RUN_ID, "acme", -1, False, until)

    assert watch.counts(at, until - timedelta(seconds=1))
    assert not watch.counts(at, until)


def test_a_socket_has_room_for_so_many_runs_and_for_those_that_it_has() -> None:
    full = frozenset(map(run_id, range(MOST_RUNS)))

    watch.make_room(full, run_id(0))
    watch.make_room(full - {run_id(0)}, run_id(99))
    with pytest.raises(Conflict) as refusal:
        watch.make_room(full, run_id(99))
    assert refusal.value.code == "too_many_watches"
