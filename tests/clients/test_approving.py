"""What runs ask people, on the command line: the inbox, the question, the answer to exactly what was shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pawl_client import NotAsked, PawlClient
from pawl_client.answering import find
from pawl_client.watching import ExitCode
from tests.clients.conftest import Pawl
from tests.clients.door import Answer, Cut
from tests.clients.fake_pawl import (
    APPROVAL,
    ASKED,
    ASKING,
    DIGEST,
    DOUBTED,
    OPENING,
    RUN_ID,
    FakePawl,
    log_of,
    problem,
    replied,
    resolved,
)
from tests.clients.terminal import environment, on_terminal, piped

QUESTION = """? may send be called?
  to: anna
  subject: Notes
  exactly: {"to": "anna"}
  rule: allow send
  because nobody can take it back
  open until 2026-12-01 12:00 UTC; then the call is denied
"""


@pytest.fixture
def pawl() -> Any:
    """A server whose one run asks something."""
    with FakePawl(log_of(*ASKING)) as pawl:
        yield pawl


def sent(pawl: FakePawl) -> list[dict[str, Any]]:
    return [dict(request.body) for request in pawl.asked if request.method == "POST"]


def test_the_inbox_is_lines_that_cut_and_awk_understand(call: Pawl) -> None:
    ended = call("approvals")
    assert ended.stdout == f"{RUN_ID}\t{APPROVAL}\tcall\tsend\t2026-12-01 12:00 UTC\tto: anna subject: Notes\n"
    assert ended.stderr == "to answer: pawl approve RUN APPROVAL, pawl deny …, pawl resolve …\n"


def test_every_page_of_the_inbox_is_read_and_json_has_all_of_it(call: Pawl, pawl: FakePawl) -> None:
    (asked,) = pawl.inbox()
    told: list[dict[str, Any]] = [
        {"approvals": [], "next": "a"},
        {"approvals": [asked], "next": "b"},
        {"approvals": [], "next": None},
    ]
    pages = iter(told)
    pawl.script = lambda _: Answer(200, next(pages))
    assert json.loads(call("approvals", "--json").stdout) == {"approvals": [asked], "next": None}
    assert [request.query.get("next") for request in pawl.asked] == [None, "a", "b"]


def test_an_empty_inbox_says_so(call: Pawl, pawl: FakePawl) -> None:
    pawl.log = log_of(*OPENING)
    ended = call("approvals")
    assert (ended.stdout, ended.stderr) == ("", "nothing is asked\n")


def test_an_answer_shows_the_question_and_goes_with_the_digest_of_what_was_shown(call: Pawl, pawl: FakePawl) -> None:
    ended = call("approve", RUN_ID, APPROVAL, "--note", "fine")
    assert (ended.stderr, ended.stdout, ended.exit_code) == (QUESTION, f"{APPROVAL} approved by key_1: fine\n", 0)
    assert sent(pawl) == [{"decision": "approve", "digest": ASKED["digest"], "note": "fine"}]


@pytest.mark.parametrize(
    ("args", "body", "said"),
    [
        (("approve", "--grant"), {"decision": "approve", "grant": True}, "approved by key_1, and further calls of"),
        (("approve", "--args", '{"to": "bert"}'), {"decision": "edit", "args": {"to": "bert"}}, "with other arguments"),
        (("deny", "--note", "no"), {"decision": "deny", "note": "no"}, "denied by key_1: no"),
    ],
    ids=["grant", "edit", "deny"],
)
def test_each_answer_to_a_call_is_sent_as_it_was_meant(
    call: Pawl, pawl: FakePawl, args: tuple[str, ...], body: dict[str, Any], said: str
) -> None:
    command, *options = args
    assert said in call(command, RUN_ID, APPROVAL, *options).stdout
    assert sent(pawl) == [{"digest": ASKED["digest"], **body}]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("happened", "it happened, says key_1"),
        ("retry", "it did not happen and is made again, says key_1"),
        ("abort", "it did not happen and is not made again, says key_1"),
    ],
)
def test_an_unknown_outcome_is_resolved_by_who_knows_it(call: Pawl, pawl: FakePawl, outcome: str, said: str) -> None:
    pawl.log = log_of(*ASKING[:4], ("approval.requested", DOUBTED))
    ended = call("resolve", RUN_ID, APPROVAL, outcome)
    assert ended.stdout == f"{APPROVAL} {said}\n"
    assert ended.stderr.startswith("? send was called, and nobody knows how it ended. Did it happen?\n")
    assert "; then the run fails\n" in ended.stderr
    assert sent(pawl) == [{"decision": outcome, "digest": ASKED["digest"]}]


def test_somebody_elses_earlier_decision_is_told_in_a_sentence(call: Pawl, pawl: FakePawl) -> None:
    pawl.log = log_of(*ASKING, resolved("deny"))
    ended = call("approve", RUN_ID, APPROVAL)
    assert (ended.exit_code, ended.stdout) == (ExitCode.ERROR, "")
    assert ended.stderr == "pawl: the decision was deny, by key_1 [approval_decided, HTTP 409, request req-7]\n"


def test_the_same_decision_again_is_no_fault(call: Pawl, pawl: FakePawl) -> None:
    pawl.log = log_of(*ASKING, resolved("deny"))
    ended = call("deny", RUN_ID, APPROVAL)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, f"{APPROVAL} denied by key_1\n", "")


@pytest.mark.parametrize("end", ["run.failed", "run.cancelled"])
def test_a_run_that_is_over_puts_no_question_before_anybody(call: Pawl, pawl: FakePawl, end: str) -> None:
    pawl.log = log_of(*ASKING, (end, {}))
    over = problem(409, "run_over", "the run is over, and asks nothing any more")
    pawl.script = lambda request: over if request.method == "POST" else None
    ended = call("approve", RUN_ID, APPROVAL)
    assert ended.stderr == ("pawl: the run is over, and asks nothing any more [run_over, HTTP 409, request req-7]\n")


def test_on_a_terminal_nobody_is_asked_once_more_about_what_is_decided(pawl: FakePawl) -> None:
    pawl.log = log_of(*ASKING, resolved("deny"))
    shown = on_terminal(["approve", RUN_ID, APPROVAL], environment(pawl.url), typed="n\n")
    assert (shown.code, "[y/N]" in shown.text) == (ExitCode.ERROR, False)
    assert "the decision was deny, by key_1" in shown.text


def test_an_answer_whose_answer_is_lost_is_sent_again(pawl: FakePawl, client: PawlClient) -> None:
    cuts = iter([Cut.HALF_BODY, Cut.RESET])
    pawl.script = lambda _: Answer(200, {"any": "thing"}, cut=cut) if (cut := next(cuts, None)) else None
    told = client.decide(RUN_ID, APPROVAL, "deny", ASKED["digest"])
    assert told["data"]["decision"] == "deny"
    assert len(sent(pawl)) == 3


def test_a_question_that_was_never_asked_is_not_answered(call: Pawl, pawl: FakePawl) -> None:
    ended = call("approve", RUN_ID, "ap_9")
    assert (ended.exit_code, sent(pawl)) == (ExitCode.ERROR, [])
    assert ended.stderr == f"pawl: {RUN_ID} asks nothing by the id ap_9; what is asked: pawl approvals\n"


def test_a_question_is_found_on_whatever_page_of_the_log_it_stands(pawl: FakePawl, client: PawlClient) -> None:
    pawl.page_limit = 2
    assert find(client, RUN_ID, APPROVAL) == (ASKED, True)


def test_a_question_is_found_in_a_snapshot(pawl: FakePawl, client: PawlClient) -> None:
    calls = [{"call_id": "c", "name": "look"}, {"call_id": "d", "name": "send", "approval": ASKED}]
    pawl.log = log_of(("snapshot", {"steps": [{"calls": calls}]}))
    assert find(client, RUN_ID, APPROVAL) == (ASKED, True)
    with pytest.raises(NotAsked):
        find(client, RUN_ID, "ap_9")


def test_arguments_that_lie_apart_are_fetched_and_shown_whole(call: Pawl, pawl: FakePawl) -> None:
    apart = {**ASKED, "args": {"payload": {"digest": DIGEST, "bytes": 40_000}}}
    pawl.log = log_of(*ASKING[:4], ("approval.requested", apart))
    assert '  exactly: {"rows": [1, 2]}\n' in call("approve", RUN_ID, APPROVAL).stderr


def test_arguments_that_only_look_kept_apart_are_shown_as_they_are(call: Pawl, pawl: FakePawl) -> None:
    sly = {"payload": {"digest": DIGEST, "bytes": 4}, "to": "mallory"}
    pawl.log = log_of(*ASKING[:4], ("approval.requested", {**ASKED, "args": sly}))
    assert f"  exactly: {json.dumps(sly)}\n" in call("approve", RUN_ID, APPROVAL).stderr


def test_nothing_hides_in_a_question(call: Pawl, pawl: FakePawl) -> None:
    sly = "an\u200bna\u202e\U000e0041\x85\u2028x"
    asked = {**ASKED, "name": sly, "args": {"to": sly}, "preview": f"to: {sly}\nb", "rule": f"allow {sly}"}
    pawl.log = log_of(*ASKING[:4], ("approval.requested", asked))
    shown = r"an\u200bna\u202e\udb40\udc41\u0085\u2028x"
    assert call("approve", RUN_ID, APPROVAL).stderr.splitlines()[:5] == [
        f"? may {shown} be called?",
        f"  to: {shown}",
        "  b",
        f'  exactly: {{"to": "{shown}"}}',
        f"  rule: allow {shown}",
    ]


@pytest.mark.parametrize(
    "args",
    [
        ("approve", RUN_ID),
        ("approve", RUN_ID, "../keys"),
        ("approve", RUN_ID, APPROVAL, "--args", "{"),
        ("approve", RUN_ID, APPROVAL, "--args", "[1]"),
        ("approve", RUN_ID, APPROVAL, "--args", "{}", "--grant"),
        ("deny", RUN_ID, APPROVAL, "--grant"),
        ("resolve", RUN_ID, APPROVAL),
        ("resolve", RUN_ID, APPROVAL, "approve"),
    ],
    ids=" ".join,
)
def test_an_answer_that_cannot_be_meant_is_a_usage_error(call: Pawl, pawl: FakePawl, args: tuple[str, ...]) -> None:
    ended = call(*args)
    assert (ended.exit_code, ended.stdout, pawl.asked) == (ExitCode.USAGE, "", [])
    assert ended.stderr


def test_a_refused_edit_says_what_is_wrong_with_it(call: Pawl, pawl: FakePawl) -> None:
    refusal = problem(400, "invalid_args", "to must be a string", field="args", expected="a call that the run may make")
    pawl.script = lambda request: refusal if request.method == "POST" else None
    ended = call("approve", RUN_ID, APPROVAL, "--args", '{"to": 1}')
    assert ended.exit_code == ExitCode.ERROR
    assert '\n  to be made in its place: {"to": 1}\npawl: to must be a string (field args' in ended.stderr


@pytest.mark.parametrize(("typed", "decisions", "code"), [("y\n", ["approve"], 0), ("n\n", [], 1)])
def test_on_a_terminal_a_person_is_asked_once_more_with_the_question_before_them(
    pawl: FakePawl, typed: str, decisions: list[str], code: int
) -> None:
    shown = on_terminal(["approve", RUN_ID, APPROVAL], environment(pawl.url), typed=typed)
    assert shown.code == code
    assert [body["decision"] for body in sent(pawl)] == decisions
    assert shown.text.index("because nobody can take it back") < shown.text.index("approve? [y/N]")
    assert ("nothing was sent" in shown.text) is (not decisions)


def test_who_is_sure_is_not_asked_once_more(pawl: FakePawl) -> None:
    shown = on_terminal(["deny", RUN_ID, APPROVAL, "--yes"], environment(pawl.url))
    assert (shown.code, "[y/N]" in shown.text) == (0, False)


def test_whoever_watches_sees_the_question_and_goes_on_by_themselves_after_the_answer(pawl: FakePawl) -> None:
    pawl.next_poll_ms = 20
    pawl.after_answer = (replied("Sent.", step=2), ("run.done", {"output": {"text": "Sent."}}))
    env = environment(pawl.url)
    answers: list[str] = []
    command = f"pawl approve {RUN_ID} {APPROVAL}   or   pawl deny {RUN_ID} {APPROVAL}"
    shown = on_terminal(
        ["watch", RUN_ID],
        env,
        at=(command, lambda: answers.append(piped(["approve", RUN_ID, APPROVAL], env).stdout)),
    )
    assert answers == [f"{APPROVAL} approved by key_1\n"]
    assert shown.code == ExitCode.DONE
    assert f"{QUESTION}  to answer: {command}\n" in shown.text
    assert "  approved by key_1\n" in shown.text
    assert "Sent.\n" in shown.text
