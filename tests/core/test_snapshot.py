"""A log folded into one value."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core import cursor, snapshot
from chalicelib.core.cursor import Answer, NoAnswer
from chalicelib.core.events import Event, EventType
from chalicelib.core.moments import spelled
from chalicelib.core.run import Status
from tests.core.a_log import RUN_ID, LogInWords, a_log, a_started_log
from tests.core.a_reader import folded

PIECES = st.lists(st.text(max_size=3), max_size=6)
STEPS = st.lists(st.lists(PIECES, min_size=1, max_size=3), min_size=1, max_size=4)
"""For each step the model calls that were made for it, each as the pieces of text that came; the last one was whole."""


def a_streamed_log(steps: Sequence[Sequence[Sequence[str]]]) -> LogInWords:
    words = a_started_log()
    for number, calls in enumerate(steps, start=1):
        words.step(number)
        begun = len(words.events)
        for made, pieces in enumerate(calls):
            if made:
                words.taken().reset(number, from_seq=begun)
            begun = len(words.events)
            for piece in pieces:
                words.delta(piece, step=number)
        words.said("".join(pieces), step=number)
    return words


def fold(words: LogInWords) -> Event:
    return snapshot.fold(RUN_ID, words.events)


@given(STEPS)
def test_its_text_is_what_a_client_has_folded_from_the_deltas(steps: list[list[list[str]]]) -> None:
    words = a_streamed_log(steps).done()

    assert snapshot.text(fold(words)) == folded(words.events)


@given(STEPS, st.data())
def test_so_it_is_wherever_the_log_stands(steps: list[list[list[str]]], data: st.DataObject) -> None:
    events = a_streamed_log(steps).events
    upto = data.draw(st.integers(1, len(events)))

    assert snapshot.text(snapshot.fold(RUN_ID, events[:upto])) == folded(events[:upto])


def test_it_bears_the_seq_of_the_last_event_that_it_stands_for() -> None:
    words = a_started_log().step().delta("Hi")

    made = fold(words)

    assert (made.seq, made.at, made.type) == (3, words.events[-1].at, EventType.SNAPSHOT)
    assert made.type not in {event.type for event in words.events}


def test_it_tells_each_call_and_how_it_ended() -> None:
    words = a_started_log().step().said("", "look", "look", "look", "look")
    words.tool_began(0).tool_ended(0, content="seen").tool_began(1).tool_lost(1).tool_began(2)

    [step] = fold(words).data["steps"]

    assert [call["state"] for call in step["calls"]] == ["finished", "unknown", "started", "asked"]
    assert step["calls"][0] | {"args": {}} == {
        "call_id": f"{RUN_ID}-1-0",
        "name": "look",
        "args": {},
        "state": "finished",
        "ok": True,
        "content": "seen",
        "cut": False,
    }


def test_it_tells_what_is_asked_and_what_people_decided_and_what_was_refused() -> None:
    words = a_started_log().step().said("", "look", "look", "look")
    edited = {"call_id": f"{words.call_id(0)}e", "args": {"to": "bert"}}
    words.asked(0).asked(1).answered("edit", 0, edited=edited, note="not anna")
    refused = {"call_id": words.call_id(2), "name": "look", "ok": False, "content": "no rule allows it"}
    words.add(EventType.TOOL_FINISHED, {**refused, "refused": True})

    changed, open_, denied = fold(words).data["steps"][0]["calls"]

    assert (changed["call_id"], changed["args"], changed.get("approval")) == (edited["call_id"], {"to": "bert"}, None)
    [decision] = changed["decisions"]
    assert decision == {
        "approval_id": "ap_4",
        "question": "call",
        "decision": "edit",
        "by": "key_1",
        "note": "not anna",
        "at": spelled(words.events[6].at),
        "args": {},
    }
    assert (open_["approval"]["approval_id"], "decisions" in open_) == ("ap_5", False)
    assert (denied["state"], denied["refused"]) == ("finished", True)
    assert "approval" not in fold(words.done()).data["steps"][0]["calls"][1]


def test_an_outcome_that_was_found_out_later_is_told_with_who_said_so() -> None:
    words = a_started_log().step().said("", "look").asked().answered("approve").tool_began(effect="irreversible")
    words.tool_lost().asked(question="outcome").answered("happened").tool_ended(content="it happened")

    [call] = fold(words).data["steps"][0]["calls"]

    assert (call["state"], call["ok"]) == ("finished", True)
    told = [(each["question"], each["decision"]) for each in call["decisions"]]
    assert told == [("call", "approve"), ("outcome", "happened")]


def test_a_long_answer_of_a_tool_is_cut_and_says_so() -> None:
    words = a_started_log().step().said("", "look").tool_began().tool_ended(content="x" * (snapshot.CONTENT_CAP + 1))

    [call] = fold(words).data["steps"][0]["calls"]

    assert (len(call["content"]), call["cut"]) == (snapshot.CONTENT_CAP, True)


def test_the_step_that_goes_on_is_open_and_its_text_comes_from_the_deltas() -> None:
    words = a_started_log().step(1).delta("One.").said("One.").step(2).delta("Tw", step=2)

    steps = fold(words).data["steps"]

    assert [(step["text"], step["open"]) for step in steps] == [("One.", False), ("Tw", True)]


def test_a_wait_is_told_while_it_is_open() -> None:
    waiting = a_started_log().waiting("provider")

    assert fold(waiting).data["waiting"] == {"seq": 2, "for": "provider"}
    assert fold(waiting.resumed()).data["waiting"] is None


def test_totals_count_every_model_call_and_every_token() -> None:
    words = a_started_log().step(1).taken().reset(1, from_seq=3).said("a").step(2).said("b", step=2)

    assert fold(words).data["totals"] == {
        "steps": 2,
        "model_calls": 3,
        "input_tokens": 2,
        "output_tokens": 2,
        "estimated": False,
    }


def test_what_the_user_said_is_kept() -> None:
    words = a_log().accepted("go").message("faster")

    assert fold(words).data["messages"] == [{"seq": 0, "text": "go"}, {"seq": 1, "text": "faster"}]


def test_the_end_comes_back_as_it_stood_in_the_log() -> None:
    words = a_started_log().step().said("Hi").done()

    assert snapshot.end(fold(words)) == words.events[-1]
    assert snapshot.end(snapshot.fold(RUN_ID, words.events[:-1])) is None


def test_a_reader_behind_it_gets_it_and_one_at_its_seq_gets_nothing_more() -> None:
    made = fold(a_started_log().done())
    behind = Answer((made,), 2, False, Status.DONE, True, cursor.LATER)

    assert snapshot.answer(cursor.START, made) == behind
    assert snapshot.answer(1, made) == behind
    assert snapshot.answer(2, made) == Answer((), 2, False, Status.DONE, True, cursor.LATER)
    assert snapshot.answer(3, made) is NoAnswer.AHEAD


def test_a_reader_of_a_run_that_goes_on_is_not_done_with_it() -> None:
    found = snapshot.answer(cursor.START, fold(a_started_log().step().delta("Hi")))

    assert isinstance(found, Answer)
    assert (found.done, found.status, found.next_poll_ms) == (False, Status.STREAMING, cursor.SOON)
