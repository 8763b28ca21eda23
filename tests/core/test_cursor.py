"""What a read after a cursor may deliver. DESIGN sections 6 and 11.7."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product

import pytest

from chalicelib.core import cursor
from chalicelib.core.cursor import AT_ONCE, LATER, SHORTLY, SOON, START, Answer, NoAnswer
from chalicelib.core.events import Event, EventType
from chalicelib.core.run import TERMINAL, Run, Status
from tests.builders import a_run, an_event


def events(*seqs: int) -> list[Event]:
    return [an_event(seq) for seq in seqs]


def an_answer(since: int, seen: Sequence[Event], run: Run | None, *, strong: bool = False) -> Answer:
    found = cursor.answer(since, seen, run, strong=strong)
    assert isinstance(found, Answer)
    return found


def seqs(answer: Answer) -> list[int]:
    return [event.seq for event in answer.events]


def test_a_client_without_anything_gets_the_log_from_its_first_event() -> None:
    answer = an_answer(START, events(0, 1, 2), a_run())

    assert seqs(answer) == [0, 1, 2]
    assert (answer.next_since, answer.has_more, answer.done) == (2, False, False)


def test_the_event_at_the_cursor_proves_the_cursor_and_is_not_delivered_again() -> None:
    answer = an_answer(1, events(1, 2), a_run())

    assert seqs(answer) == [2]


def test_a_client_that_has_everything_gets_nothing_and_keeps_its_cursor() -> None:
    answer = an_answer(3, events(3), a_run())

    assert (answer.events, answer.next_since, answer.has_more, answer.done) == ((), 3, False, False)


def test_a_full_page_has_no_status_and_wants_to_be_followed_at_once() -> None:
    answer = an_answer(START, events(0, 1), None)

    assert (answer.status, answer.has_more, answer.done, answer.next_poll_ms) == (None, True, False, AT_ONCE)


def test_only_what_stands_before_the_first_hole_is_delivered_and_the_rest_is_announced() -> None:
    answer = an_answer(0, events(0, 1, 2, 4, 5), a_run())

    assert seqs(answer) == [1, 2]
    assert (answer.has_more, answer.next_poll_ms) == (True, AT_ONCE)


def test_a_run_that_has_ended_is_not_done_before_its_end_is_delivered() -> None:
    answer = an_answer(0, events(0, 1), a_run(status=Status.DONE))

    assert (answer.status, answer.done, answer.next_poll_ms) == (Status.DONE, False, SOON)


def test_an_end_behind_a_hole_is_not_delivered_and_so_nothing_is_done() -> None:
    answer = an_answer(0, [*events(0, 1), an_event(3, EventType.RUN_DONE)], a_run(status=Status.DONE))

    assert (seqs(answer), answer.done, answer.has_more) == ([1], False, True)


@pytest.mark.parametrize(
    ("type", "status"),
    [
        (EventType.RUN_DONE, Status.DONE),
        (EventType.RUN_FAILED, Status.FAILED),
        (EventType.RUN_CANCELLED, Status.CANCELLED),
    ],
)
@pytest.mark.parametrize("since", [START, 0, 1])
def test_once_the_end_is_delivered_now_or_before_the_run_is_done(since: int, type: EventType, status: Status) -> None:
    log = [an_event(0), an_event(1, type)]

    answer = an_answer(since, [event for event in log if event.seq >= since], a_run(status=status))

    assert (answer.status, answer.done, answer.has_more, answer.next_since) == (status, True, False, 1)


@pytest.mark.parametrize("run", [None, a_run(status=Status.STREAMING)])
def test_a_delivered_end_speaks_for_the_run_that_was_not_reached_or_is_older(run: Run | None) -> None:
    answer = an_answer(START, [an_event(0, EventType.RUN_DONE)], run)

    assert (answer.status, answer.done, answer.has_more) == (Status.DONE, True, False)


def test_a_cursor_is_called_ahead_of_the_log_only_by_a_strong_read() -> None:
    assert cursor.answer(7, [], a_run(), strong=False) is NoAnswer.READ_AGAIN
    assert cursor.answer(7, [], a_run(), strong=True) is NoAnswer.AHEAD


@pytest.mark.parametrize(("since", "seen"), [(START, [1]), (2, [2, 4]), (2, [4]), (2, [5, 6])])
def test_a_hole_right_behind_the_cursor_is_believed_only_of_a_strong_read(since: int, seen: list[int]) -> None:
    assert cursor.answer(since, events(*seen), a_run(), strong=False) is NoAnswer.READ_AGAIN
    assert cursor.answer(since, events(*seen), a_run(), strong=True) is NoAnswer.HOLE


def test_a_later_event_proves_the_cursor_as_well_as_the_one_at_it() -> None:
    assert seqs(an_answer(2, events(3, 4), a_run())) == [3, 4]


def test_a_read_without_event_and_run_says_nothing() -> None:
    assert cursor.answer(START, [], None, strong=False) is NoAnswer.READ_AGAIN
    assert cursor.answer(START, [], None, strong=True) is NoAnswer.HOLE


def test_the_first_event_may_be_missing_while_the_run_is_there() -> None:
    answer = an_answer(START, [], a_run(status=Status.PENDING))

    assert (answer.events, answer.next_since, answer.status) == ((), START, Status.PENDING)


@pytest.mark.parametrize(
    ("status", "wait"),
    [
        (Status.PENDING, SHORTLY),
        (Status.RUNNING, SHORTLY),
        (Status.STREAMING, SOON),
        (Status.WAITING, LATER),
        (Status.CANCELLING, SHORTLY),
    ],
)
def test_a_client_is_told_to_come_back_soon_while_text_streams_and_late_while_the_run_waits(
    status: Status, wait: int
) -> None:
    assert an_answer(0, events(0), a_run(status=status)).next_poll_ms == wait


LENGTH = 4
LOGS = [EventType.TEXT_DELTA, EventType.RUN_DONE]
SEEN = [*chain.from_iterable(combinations(range(LENGTH), size) for size in range(LENGTH + 1))]


@pytest.mark.parametrize("last", LOGS)
@pytest.mark.parametrize("since", range(START, LENGTH + 2))
@pytest.mark.parametrize("strong", [False, True])
def test_whatever_a_read_has_seen_it_never_skips_never_repeats_and_never_ends_too_early(
    since: int, strong: bool, last: EventType
) -> None:
    log = [*events(*range(LENGTH - 1)), an_event(LENGTH - 1, last)]
    for seen, run in product(SEEN, [None, a_run(status=Status.DONE if last is EventType.RUN_DONE else Status.RUNNING)]):
        found = cursor.answer(
            since, [event for event in log if event.seq in seen and event.seq >= since], run, strong=strong
        )
        if isinstance(found, NoAnswer):
            assert (found is NoAnswer.READ_AGAIN) is not strong
            assert since + 1 not in seen
            continue
        got = seqs(found)
        assert got == list(range(since + 1, since + 1 + len(got)))
        assert set(got) <= set(seen)
        assert found.next_since == since + len(got)
        assert not found.done or (last is EventType.RUN_DONE and found.next_since == LENGTH - 1)
        assert not (found.done and found.has_more)
        assert found.next_since + 1 not in seen


def test_every_unfinished_status_has_a_time_to_come_back_at() -> None:
    assert all(an_answer(0, events(0), a_run(status=status)).next_poll_ms > 0 for status in set(Status) - TERMINAL)


def test_events_after_the_cursor_are_delivered_up_to_the_first_hole() -> None:
    assert [event.seq for event in cursor.unbroken(events(0, 1, 2, 5, 6), 0)] == [1, 2]


def test_the_seq_that_follows_is_one_more() -> None:
    assert cursor.following(START) == 0
    assert cursor.following(41) == 42
