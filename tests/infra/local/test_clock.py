"""The clock that is turned by hand, and what waits by it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest

from infra.local import clock as clocks
from infra.local.clock import ClockedEvent, HandClock
from infra.local.speed import FastTime


def test_it_stands_still_until_it_is_turned() -> None:
    clock = HandClock()
    before = clock.now()
    clock.turn(90)
    assert (clock.now() - before).total_seconds() == 90


@pytest.mark.parametrize("unless", [None, threading.Event()])
def test_a_sleeper_wakes_when_its_time_has_come_and_not_before(unless: threading.Event | None) -> None:
    clock, woken = HandClock(), SimpleQueue[str]()

    def sleep() -> None:
        clock.sleep(10, unless)
        woken.put("up")

    threading.Thread(target=sleep, daemon=True).start()
    clock.await_sleeper(10)
    clock.turn(9)
    clock.await_sleeper(1)
    assert woken.empty()
    clock.turn(1)
    assert woken.get(timeout=10) == "up"


def test_a_sleeper_is_woken_early_by_its_event() -> None:
    clock, woken, unless = HandClock(), SimpleQueue[str](), threading.Event()

    def sleep() -> None:
        clock.sleep(10, unless)
        woken.put("up")

    threading.Thread(target=sleep, daemon=True).start()
    clock.await_sleeper(10)
    unless.set()
    assert woken.get(timeout=10) == "up"


def test_to_wait_for_a_sleeper_that_never_comes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "PATIENCE", 0.01)
    with pytest.raises(TimeoutError, match="3 s"):
        HandClock().await_sleeper(3)


def test_an_event_says_whether_it_was_set_in_time() -> None:
    clock, said = HandClock(), SimpleQueue[bool]()
    event = ClockedEvent(clock)
    threading.Thread(target=lambda: said.put(event.wait(5)), daemon=True).start()
    clock.await_sleeper(5)
    clock.turn(5)
    assert said.get(timeout=10) is False
    event.set()
    assert event.wait(5)
    assert event.wait()


def test_fast_time_passes_as_many_times_as_fast() -> None:
    origin = datetime.now(UTC) - timedelta(seconds=60)
    assert FastTime(10, origin).now() - origin >= timedelta(seconds=600)


def test_fast_time_goes_on_where_it_was_after_a_restart(tmp_path: Path) -> None:
    before = FastTime.kept(10, tmp_path).now()
    assert FastTime.kept(10, tmp_path).now() >= before


def test_a_lambda_process_reads_the_same_time() -> None:
    time = FastTime(10, datetime(2026, 1, 1, tzinfo=UTC))
    assert FastTime.read(str(time)) == time
