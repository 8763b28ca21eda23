"""A poll: one Query, and what it takes to believe what it says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from chalicelib.core.change import record
from chalicelib.core.cursor import Answer
from chalicelib.core.errors import InvalidInput, NotFound, Unavailable
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import Status, Trigger
from chalicelib.ports.run_store import Page, RunStore
from chalicelib.usecases.read_events import read_events
from chalicelib.usecases.read_run import read_run
from tests.builders import RUN_ID, a_move, a_run, a_stamp, accepted
from tests.virtual_time import VirtualTime


@dataclass
class Lagging:
    """A replica: weak reads show what `behind` shows; every request is noted."""

    runs: RunStore
    behind: dict[int, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def page(self, run_id: str, since: int, limit: int, *, strong: bool = False) -> Page:
        self.asked.append("strong" if strong else "weak")
        weak = self.behind.pop(since, None)
        return weak if weak and not strong else self.runs.page(run_id, since, limit, strong=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.runs, name)

    def archive(self, run_id: str) -> Event | None:
        self.asked.append("archive")
        return self.runs.archive(run_id)

    def stamp_watched(self, run_id: str, until: datetime) -> None:
        self.asked.append("stamp")
        self.runs.stamp_watched(run_id, until)


@dataclass
class Bench:
    runs: RunStore
    time: VirtualTime = field(default_factory=VirtualTime)

    def __post_init__(self) -> None:
        self.store = Lagging(self.runs)
        self.runs.create(a_run(), accepted(), None)

    def read(self, since: int = -1, limit: int = 100, wait: int = 0, *, account_id: str = "acme") -> Answer:
        return read_events(RUN_ID, since, limit, wait, account_id=account_id, runs=self.store, clock=self.time)

    def tell(self, count: int = 1) -> None:
        for _ in range(count):
            found = self.runs.tail(RUN_ID)
            assert found is not None
            run, last = found
            self.runs.append(run, record(EventType.TEXT_DELTA, {"text": "x"}, tail=last.seq, stamp=a_stamp(1)))

    def end(self) -> None:
        self.runs.commit(a_move(a_run(), Trigger.CANCEL, tail=0))


@pytest.fixture
def bench(runs: RunStore) -> Bench:
    return Bench(runs)


def test_a_poll_is_one_query_and_one_stamp_in_ten_seconds(bench: Bench) -> None:
    for _ in range(20):
        bench.read(0)
        bench.time.advance(0.5)

    assert bench.store.asked == ["weak", "stamp"] + ["weak"] * 19

    bench.read(0)
    assert bench.store.asked[-2:] == ["weak", "stamp"]


def test_a_held_poll_goes_on_stamping(bench: Bench) -> None:
    bench.read(0, wait=20)

    assert bench.store.asked.count("stamp") == 3
    assert bench.store.asked.count("weak") == 41


def test_a_page_of_the_past_and_an_ended_run_are_not_stamped(bench: Bench) -> None:
    bench.tell(3)
    bench.read(limit=1)
    assert bench.store.asked == ["weak"]


def test_an_ended_run_is_not_stamped(bench: Bench) -> None:
    bench.end()

    assert bench.read().done
    assert bench.store.asked == ["weak"]


def test_a_poll_is_answered_though_its_stamp_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(run_id: str, until: datetime) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(bench.store, "stamp_watched", refuse)

    assert bench.read().next_since == 0


def test_a_cursor_that_a_lagging_replica_does_not_know_is_looked_up_strongly(bench: Bench) -> None:
    old = bench.runs.page(RUN_ID, 3, 100)
    bench.tell(4)
    bench.store.behind[3] = old

    assert [event.seq for event in bench.read(3).events] == [4]
    assert bench.store.asked[:2] == ["weak", "strong"]


def test_a_run_that_a_lagging_replica_does_not_know_is_looked_up_strongly(bench: Bench) -> None:
    bench.store.behind[-1] = Page((), None, None)

    assert bench.read().next_since == 0


@pytest.mark.parametrize("since", [1, 7, 10**12])
def test_a_cursor_ahead_of_the_log_is_refused_after_a_strong_read(since: int, bench: Bench) -> None:
    with pytest.raises(InvalidInput) as refusal:
        bench.read(since)

    assert (refusal.value.code, refusal.value.field) == ("since_ahead_of_log", "since")
    assert bench.store.asked == ["weak", "strong"]


def test_a_hole_that_a_lagging_replica_shows_is_looked_at_strongly(bench: Bench) -> None:
    bench.tell(3)
    whole = bench.runs.page(RUN_ID, 0, 100)
    bench.store.behind[0] = replace(whole, events=(whole.events[0], *whole.events[2:]))

    assert [event.seq for event in bench.read(0).events] == [1, 2, 3]
    assert bench.store.asked[:2] == ["weak", "strong"]


def test_a_hole_that_stays_is_no_answer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.tell(3)
    whole = bench.runs.page(RUN_ID, 0, 100)
    holed = replace(whole, events=(whole.events[0], *whole.events[2:]))
    monkeypatch.setattr(bench.store, "page", lambda *args, **kwargs: holed)

    with pytest.raises(Unavailable):
        bench.read(0)


def test_before_a_hole_everything_is_delivered_at_once(bench: Bench) -> None:
    bench.tell(3)
    whole = bench.runs.page(RUN_ID, 0, 100)
    bench.store.behind[0] = replace(whole, events=(*whole.events[:2], whole.events[3]))

    answer = bench.read(0)

    assert ([event.seq for event in answer.events], answer.has_more, answer.next_poll_ms) == ([1], True, 0)


@pytest.mark.parametrize("limit", [1, 100])
@pytest.mark.parametrize("since", [-1, 0, 9])
def test_another_accounts_run_is_not_there_whatever_the_cursor(since: int, limit: int, bench: Bench) -> None:
    bench.tell(3)

    with pytest.raises(NotFound) as refusal:
        bench.read(since, limit, account_id="globex")

    assert refusal.value.code == "run_not_found"


def test_nobodys_run_is_not_there(bench: Bench) -> None:
    with pytest.raises(NotFound):
        read_events("run_nowhere", -1, 10, 0, account_id="acme", runs=bench.runs, clock=bench.time)


def test_a_run_that_ends_between_its_two_items_shows_its_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.runs.tail(RUN_ID)
    bench.end()
    after = bench.runs.tail(RUN_ID)
    assert before is not None
    assert after is not None
    torn = [(before[0], after[1]), after]
    monkeypatch.setattr(bench.runs, "tail", lambda run_id: torn.pop(0))

    run, last = read_run(RUN_ID, account_id="acme", runs=bench.runs)

    assert (run.status, last.type) == (Status.CANCELLED, EventType.RUN_CANCELLED)
