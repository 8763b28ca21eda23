"""Following a log: the cursor, the pauses, and every way to lose a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from pawl_client import Back, Event, LogBroken, Lost, Page, PawlClient, PawlError, Unreachable, follow
from pawl_client.follow import GAP_TRIES, LONG_POLL, SHORTEST_PAUSE
from tests.clients.door import Answer, Cut
from tests.clients.fake_pawl import RUN_ID, SECRET, STORY, FakePawl, problem
from tests.clients.manual_time import ManualTime

GONE = Unreachable("http://pawl", "connection refused")


def page(*seqs: int, done: bool = False, has_more: bool = False, next_poll_ms: int = 200) -> Page:
    events = tuple(Event(seq, "text.delta", "2026-11-30T12:00:00.000Z", {"text": str(seq)}) for seq in seqs)
    return Page(events, max(seqs, default=-1), has_more, "streaming", done, next_poll_ms)


@dataclass
class Script:
    """A log that answers as it is told, one answer a read."""

    answers: Iterable[Page | Exception]
    asked: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next: Iterator[Page | Exception] = iter(self.answers)

    def events(self, run_id: str, since: int = -1, *, limit: int | None = None, wait: int = 0) -> Page:
        self.asked.append((since, wait))
        answer = next(self._next)
        if isinstance(answer, Exception):
            raise answer
        return answer


def followed(script: Script, time: ManualTime, since: int = -1) -> list[int]:
    return [event.seq for event in follow(script, RUN_ID, since, pace=time.pace())]


def test_a_log_is_followed_from_the_cursor_to_its_end(time: ManualTime) -> None:
    script = Script([page(5, 6), page(7), page(8, done=True)])
    assert followed(script, time, since=4) == [5, 6, 7, 8]
    assert [since for since, _ in script.asked] == [4, 6, 7]


def test_the_server_says_when_to_ask_again(time: ManualTime) -> None:
    followed(Script([page(0, next_poll_ms=300), page(1, next_poll_ms=5000), page(2, done=True)]), time)
    assert time.slept == [0.3, 5.0]


def test_a_full_page_is_followed_by_the_next_at_once(time: ManualTime) -> None:
    followed(Script([page(0, has_more=True, next_poll_ms=0), page(1, done=True)]), time)
    assert time.slept == []


def test_a_server_that_asks_for_no_pause_is_not_polled_without_a_breath(time: ManualTime) -> None:
    followed(Script([page(next_poll_ms=0), page(0, done=True)]), time)
    assert time.slept == [SHORTEST_PAUSE]


def test_only_after_an_empty_answer_is_the_next_one_waited_for(time: ManualTime) -> None:
    script = Script([page(0), page(), page(), page(1), page(2, done=True)])
    followed(script, time)
    assert [wait for _, wait in script.asked] == [0, 0, LONG_POLL, LONG_POLL, 0]


def test_what_was_received_before_is_dropped(time: ManualTime) -> None:
    script = Script([page(0, 1, 2), page(1, 2, 3), page(0, 1), page(3, 4, 4, done=True)])
    assert followed(script, time) == [0, 1, 2, 3, 4]


def test_nothing_behind_a_hole_is_taken_before_it_is_filled(time: ManualTime) -> None:
    script = Script([page(0, 1, 3, 4), page(3, 4, done=True), page(2, 3, 4, done=True)])
    assert followed(script, time) == [0, 1, 2, 3, 4]
    assert [since for since, _ in script.asked] == [-1, 1, 1]
    assert time.slept == [0.25, 0.5]


def test_a_hole_that_stays_is_an_error(time: ManualTime) -> None:
    script = Script([page(0, 2)] + [page(2, done=True)] * GAP_TRIES)
    with pytest.raises(LogBroken, match="event 1 does not come"):
        followed(script, time)
    assert len(script.asked) == GAP_TRIES


def test_a_server_that_is_gone_is_asked_ever_more_slowly_until_it_is_back(time: ManualTime) -> None:
    script = Script([page(0), *[GONE] * 9, page(1), GONE, page(2, done=True)])
    assert followed(script, time) == [0, 1, 2]
    assert time.slept == [0.2, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0, 0.2, 0.25]


def test_chance_takes_at_most_half_off_a_delay(time: ManualTime) -> None:
    list(follow(Script([GONE, GONE, page(0, done=True)]), RUN_ID, pace=time.pace(luck=1.0)))
    assert time.slept == [0.125, 0.25]


def test_a_server_that_was_gone_for_days_does_not_break_the_arithmetic(time: ManualTime) -> None:
    assert followed(Script([*[GONE] * 5000, page(0, done=True)]), time) == [0]
    assert max(time.slept) == 15.0


def test_a_server_that_asks_for_patience_gets_it(time: ManualTime) -> None:
    busy = PawlError(429, "rate_limited", "slow down", retry_after=40.0)
    followed(Script([busy, page(0, done=True)]), time)
    assert time.slept == [40.0]


def test_whoever_watches_is_told_from_where_it_goes_on(time: ManualTime) -> None:
    heard: list[Lost | Back] = []
    script = Script([page(0, 1), GONE, GONE, page(2, done=True)])
    list(follow(script, RUN_ID, pace=time.pace(), notice=heard.append))
    assert heard == [Lost(GONE, 1, 1, 0.25), Lost(GONE, 1, 2, 0.5), Back(1)]


def test_after_trouble_the_first_answer_is_not_held_back(time: ManualTime) -> None:
    script = Script([page(), GONE, page(), page(0, done=True)])
    followed(script, time)
    assert [wait for _, wait in script.asked] == [0, LONG_POLL, 0, LONG_POLL]


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "since_ahead_of_log"), (401, "key_revoked"), (403, "scope_missing"), (404, "run_not_found")],
)
def test_what_no_waiting_mends_is_an_error_at_once(time: ManualTime, status: int, code: str) -> None:
    script = Script([page(0), PawlError(status, code, "no")])
    with pytest.raises(PawlError) as caught:
        followed(script, time)
    assert caught.value.code == code


def test_a_cursor_at_the_end_yields_nothing_and_ends(time: ManualTime) -> None:
    assert followed(Script([page(done=True)]), time, since=6) == []


# From here on, on a real socket.


def test_a_log_comes_over_the_wire_as_it_stands(client: PawlClient, time: ManualTime) -> None:
    events = list(follow(client, RUN_ID, pace=time.pace()))
    assert [event.document(RUN_ID) for event in events] == [{"run_id": RUN_ID, **event} for event in STORY]


def test_a_cursor_ahead_of_the_log_is_told_as_the_server_tells_it(client: PawlClient) -> None:
    with pytest.raises(PawlError, match="since_ahead_of_log"):
        list(follow(client, RUN_ID, since=99))


SPOILT = [
    *(Answer(200, {"events": []}, cut=cut) for cut in Cut),
    *(Answer(status, "<h1>Gateway</h1>") for status in (500, 502, 503, 504)),
    problem(429, "rate_limited", "slow down"),
]


@pytest.mark.parametrize("spoilt", SPOILT, ids=lambda answer: answer.cut or str(answer.status))
def test_a_spoilt_answer_is_asked_for_again_from_the_same_cursor(
    pawl: FakePawl, time: ManualTime, spoilt: Answer
) -> None:
    pawl.page_limit = 3
    pawl.script = lambda _: spoilt if len(pawl.asked) in {1, 3, 4} else None
    with PawlClient(pawl.url, SECRET, timeout=0.5 if spoilt.cut is Cut.SILENT else 10) as client:
        events = list(follow(client, RUN_ID, pace=time.pace()))
    assert [event.seq for event in events] == list(range(len(STORY)))
    assert [request.query["since"] for request in pawl.asked] == ["-1", "-1", "2", "2", "2", "5"]


def test_a_server_may_restart_on_its_port_while_it_is_followed(pawl: FakePawl) -> None:
    time = ManualTime(on_sleep=lambda: pawl.door.open() if len(time.slept) == 3 else None)
    heard: list[Lost | Back] = []
    pawl.page_limit = 3
    with PawlClient(pawl.url, SECRET) as client:
        events = follow(client, RUN_ID, pace=time.pace(), notice=heard.append)
        seqs = [next(events).seq for _ in range(3)]
        pawl.door.shut()
        seqs += [event.seq for event in events]
    assert seqs == list(range(len(STORY)))
    assert [type(news) for news in heard] == [Lost, Lost, Lost, Back]
    assert {news.since for news in heard} == {2}


def test_a_snapshot_stands_for_all_before_it_and_the_log_goes_on_after_it(time: ManualTime) -> None:
    snapshot = Event(7, "snapshot", "2026-11-30T12:00:00.000Z", {})
    script = Script([Page((snapshot,), 7, False, "streaming", False, 0), page(8, done=True)])
    assert followed(script, time) == [7, 8]
