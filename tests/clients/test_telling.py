"""The fold of a log into what a person reads."""

from __future__ import annotations

import pytest

from pawl_client import Event
from pawl_client.telling import Doing, Noted, Piece, Said, Stands, Told, Tone, Void, tell
from tests.clients.door import Json
from tests.clients.fake_pawl import ASKED, DOUBTED, OPENING, STORY, log_of, replied, resolved, said


def told_of(*log: tuple[str, Json]) -> tuple[Told, list[Piece]]:
    told, pieces = Told(), list[Piece]()
    for entry in log_of(*log):
        told, more = tell(told, Event(**entry))
        pieces += more
    return told, pieces


def pieces_of(*log: tuple[str, Json]) -> list[Piece]:
    return told_of(*log)[1]


def lasting(pieces: list[Piece]) -> list[Piece]:
    return [piece for piece in pieces if not isinstance(piece, Doing)]


def test_a_whole_run_is_told_in_order() -> None:
    assert pieces_of(*[(event["type"], event["data"]) for event in STORY]) == [
        Doing("pending"),
        Doing("running"),
        Doing("thinking (step 1)"),
        Said("Markets "),
        Said("rose."),
        Stands(),
        Stands(),
        Noted("done · 6.0 s · 1 step · 120 tokens", Tone.GOOD),
    ]


@pytest.mark.parametrize(
    ("type", "data", "status"),
    [
        ("run.accepted", {}, "pending"),
        ("run.started", {"attempt": 1}, "running"),
        ("text.delta", {"text": "a"}, "streaming"),
        ("run.waiting", {"for": "provider"}, "waiting"),
        ("run.resumed", {}, "running"),
        ("run.attempt", {"attempt": 2, "reason": "lapsed"}, "running"),
        ("run.cancelling", {"actor": "key_1", "reason": None}, "cancelling"),
        ("run.done", {"output": {}}, "done"),
        ("run.failed", {"error": {"code": "internal"}}, "failed"),
        ("run.cancelled", {"actor": "key_1", "reason": None}, "cancelled"),
    ],
)
def test_the_status_is_that_of_the_last_event_that_changed_it(type: str, data: Json, status: str) -> None:
    assert told_of((type, data))[0].status == status


def test_the_text_of_a_try_that_broke_off_is_void_and_comes_again() -> None:
    reset = ("step.reset", {"step": 1, "from_seq": 3})
    assert lasting(pieces_of(*OPENING, said("Mar"), reset, said("Markets"), replied("Markets"))) == [
        Said("Mar"),
        Void(),
        Noted("that try broke off, its text is void; once more:", Tone.WARNING),
        Said("Markets"),
        Stands(),
    ]


def test_a_try_that_broke_off_before_its_first_word_leaves_nothing_to_take_back() -> None:
    assert lasting(pieces_of(*OPENING, ("step.reset", {"step": 1, "from_seq": 3}))) == []


def test_a_reply_that_nobody_saw_coming_is_said_whole() -> None:
    assert lasting(pieces_of(*OPENING, replied("Markets rose."))) == [Said("Markets rose."), Stands()]


def test_what_is_kept_apart_is_named_by_its_size() -> None:
    apart = {"payload": {"digest": "d" * 64, "bytes": 40_000}}
    (reply,) = [piece for piece in lasting(pieces_of(("model.replied", {"text": apart}))) if isinstance(piece, Noted)]
    assert reply.text.startswith("(40,000 bytes, kept apart")
    (answer,) = lasting(pieces_of(("tool.finished", {"name": "look", "ok": True, "content": apart})))
    assert "40,000 bytes" in str(answer)


def test_a_reply_that_was_seen_coming_is_not_said_twice() -> None:
    assert lasting(pieces_of(*OPENING, said("Hello"), replied("Hello"))) == [Said("Hello"), Stands()]


def test_tool_calls_are_lines_with_their_arguments_and_answers() -> None:
    pieces = pieces_of(
        ("tool.started", {"call_id": "c0", "name": "clock", "args": {"zone": "UTC"}}),
        ("tool.progress", {"call_id": "c0", "name": "clock", "text": "looking"}),
        ("tool.finished", {"call_id": "c0", "name": "clock", "ok": True, "content": "12:00"}),
        ("tool.finished", {"call_id": "c1", "name": "shell", "ok": False, "content": "no\nsuch  thing"}),
        ("tool.unknown", {"call_id": "c2", "name": "mail"}),
    )
    assert pieces == [
        Noted('→ clock {"zone": "UTC"}'),
        Doing("clock is at work"),
        Doing("clock: looking"),
        Noted("✓ clock 12:00", Tone.GOOD),
        Doing("running"),
        Noted("✗ shell no such thing", Tone.BAD),
        Doing("running"),
        Noted("? mail was started, and nobody knows how it ended", Tone.WARNING),
        Doing("running"),
    ]


def test_a_long_answer_of_a_tool_is_cut_short() -> None:
    note, _ = pieces_of(("tool.finished", {"call_id": "c", "name": "web", "ok": True, "content": "x" * 500}))
    assert isinstance(note, Noted)
    assert note.text == "✓ web " + "x" * 71 + "…"


def test_a_wait_says_for_what() -> None:
    waiting = ("run.waiting", {"for": "provider", "detail": "HTTP 503"})
    assert pieces_of(waiting, ("run.resumed", {})) == [
        Noted("waiting for provider: HTTP 503", Tone.WARNING),
        Doing("waiting for provider"),
        Noted("goes on"),
        Doing("running"),
    ]


def test_a_takeover_says_why() -> None:
    assert lasting(pieces_of(("run.attempt", {"attempt": 2, "reason": "lapsed"}))) == [
        Noted("a new worker goes on (attempt 2, lapsed)")
    ]


def test_a_failure_says_its_code_and_detail() -> None:
    error = {"code": "out_of_steps", "detail": "50 steps are done"}
    assert pieces_of(("run.failed", {"error": error}))[-1] == Noted("failed: out_of_steps: 50 steps are done", Tone.BAD)


def test_a_cancel_says_who_and_why_and_lets_the_partial_text_stand() -> None:
    by = {"actor": "key_1", "reason": "too slow"}
    assert lasting(pieces_of(said("Mar"), ("run.cancelling", by), ("run.cancelled", by))) == [
        Said("Mar"),
        Noted("cancelling by key_1: too slow", Tone.WARNING),
        Stands(),
        Noted("cancelled by key_1: too slow", Tone.WARNING),
    ]


def test_an_event_of_a_newer_server_says_nothing() -> None:
    assert told_of(("run.teleported", {"to": "Mars"})) == (Told(), [])


def test_a_question_is_told_with_all_that_one_has_to_know_and_the_command_that_answers_it() -> None:
    told = Told("run_1")
    _, pieces = tell(told, Event(5, "approval.requested", "2026-11-30T12:00:05Z", DOUBTED))
    assert [piece.text for piece in pieces if isinstance(piece, Noted)] == [
        "? send was called, and nobody knows how it ended. Did it happen?",
        "  to: anna",
        "  subject: Notes",
        '  exactly: {"to": "anna"}',
        "  rule: allow send",
        "  because nobody can take it back",
        "  open until 2026-12-01 12:00 UTC; then the run fails",
        "  to answer: pawl resolve run_1 ap_4 happened|retry|abort",
    ]
    assert pieces[-1] == Doing("waiting for an answer")


@pytest.mark.parametrize(
    ("decision", "more", "note"),
    [
        ("approve", {}, Noted("  approved by key_1", Tone.GOOD)),
        ("deny", {"note": "no"}, Noted("  denied by key_1: no", Tone.WARNING)),
        ("edit", {}, Noted("  approved with other arguments by key_1", Tone.GOOD)),
        ("expired", {"by": "clock"}, Noted("  nobody answered in time", Tone.WARNING)),
        ("ponder", {}, Noted("  ponder by key_1", Tone.WARNING)),
    ],
)
def test_a_decision_says_who_decided_what(decision: str, more: Json, note: Noted) -> None:
    assert lasting(pieces_of(resolved(decision, **more))) == [note]


def test_a_refused_call_an_unknown_one_and_one_from_outside_say_so() -> None:
    refused = {"call_id": "c", "name": "send", "ok": False, "content": "no rule allows it", "refused": True}
    pieces = pieces_of(
        ("tool.finished", refused),
        ("tool.unknown", {"call_id": "c", "name": "send", "detail": "It did not come back."}),
        ("tool.started", {"call_id": "d", "name": "review", "args": {}, "answers": "outside"}),
    )
    assert pieces[0] == Noted("✗ send was refused: no rule allows it", Tone.BAD)
    assert pieces[2] == Noted("? send was started, and nobody knows how it ended: It did not come back.", Tone.WARNING)
    assert pieces[-1] == Doing("review is answered from outside")


def test_a_snapshot_tells_what_is_asked_decided_and_refused() -> None:
    call = {"call_id": "c", "name": "send", "args": {"to": "anna"}}
    calls = [
        {**call, "state": "asked", "approval": ASKED},
        {**call, "state": "finished", "ok": False, "content": "no rule allows it", "refused": True},
        {**call, "state": "finished", "ok": True, "content": "sent", "decisions": [resolved("approve")[1]]},
    ]
    step = {"step": 1, "text": "", "open": False, "calls": calls}
    texts = [p.text for p in pieces_of(("snapshot", {"status": "waiting", "steps": [step]})) if isinstance(p, Noted)]
    assert texts[1:3] == ['→ send {"to": "anna"}: asked', "? may send be called?"]
    assert texts[-3:] == [
        '→ send {"to": "anna"}: refused: no rule allows it',
        '→ send {"to": "anna"}: sent',
        "  approved by key_1",
    ]


SNAPSHOT: Json = {
    "status": "streaming",
    "steps": [
        {
            "step": 1,
            "text": "I look. ",
            "open": False,
            "calls": [
                {"call_id": "c", "name": "look", "args": {}, "state": "finished", "ok": True, "content": "seen"},
                {"call_id": "d", "name": "send", "args": {}, "state": "unknown"},
            ],
        },
        {"step": 2, "text": "Markets ", "open": True, "calls": []},
    ],
    "totals": {"steps": 2, "input_tokens": 5, "output_tokens": 6},
    "end": None,
}


def test_a_snapshot_tells_the_run_in_short_and_deltas_go_on_after_it() -> None:
    told, pieces = told_of(("snapshot", SNAPSHOT), ("text.delta", {"text": "rose."}))
    assert lasting(pieces) == [
        Noted("the run up to event 0, in short:"),
        Said("I look. "),
        Stands(),
        Noted("→ look {}: seen"),
        Noted("→ send {}: unknown"),
        Said("Markets "),
        Said("rose."),
    ]
    assert (told.steps, told.tokens, told.status) == (2, 11, "streaming")


def test_a_snapshot_takes_back_what_was_said_of_an_open_step() -> None:
    pieces = lasting(pieces_of(("text.delta", {"text": "Mark"}), ("snapshot", SNAPSHOT)))
    assert pieces[:2] == [Said("Mark"), Void()]


def test_the_snapshot_of_an_ended_run_tells_its_end() -> None:
    end = {"type": "run.failed", "data": {"error": {"code": "over_budget", "detail": "10 steps"}}}
    told, pieces = told_of(("snapshot", {**SNAPSHOT, "status": "failed", "end": end}))
    assert told.status == "failed"
    assert pieces[-1] == Noted("failed: over_budget: 10 steps · 2 steps · 11 tokens", Tone.BAD)
