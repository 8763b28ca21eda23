"""What a run asks, as cards in its timeline and in the inbox, in front of a server that does what the test says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.clients.fake_pawl import APPROVAL, ASKED, ASKING, DIGEST, DOUBTED, OPENING, resolved
from tests.console.conftest import DESKTOP, PHONE
from tests.console.fake_server import FakeServer
from tests.console.test_page import violations

CALL = {name: ASKED[name] for name in ("call_id", "name", "args")}
END = ("run.done", {"output": {"text": ""}})


def card(page: Page) -> Locator:
    """The one card that can be seen."""
    return page.locator(".question:visible")


def opened(page: Page, server: FakeServer, *log: tuple[str, dict[str, Any]]) -> Locator:
    server.tell(*log or ASKING)
    page.goto(server.run_url)
    expect(card(page)).to_have_count(1)
    return card(page)


def press(page: Page, name: str) -> None:
    card(page).get_by_role("button", name=name, exact=True).click()


def test_a_question_says_all_that_one_has_to_know(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    expect(asks.get_by_role("heading", name="May send be called?")).to_be_visible()
    expect(asks.locator(".preview")).to_have_text("to: anna\nsubject: Notes")
    expect(asks.locator("pre")).to_have_text('{\n  "to": "anna"\n}')
    expect(asks).to_contain_text("nobody can take it back")
    expect(asks.locator("dd code")).to_have_text("allow send")
    expect(asks.locator("time")).to_have_attribute("datetime", ASKED["expires_at"])
    expect(asks.locator("time")).to_contain_text("Dec 1, 2026")
    expect(asks).to_contain_text("If nobody answers, the call is denied.")
    expect(page.locator(".doing")).to_have_text("waiting for a person's answer")


@pytest.mark.parametrize(
    ("button", "verdict", "told"),
    [
        ("Approve", {"decision": "approve"}, "Approved by key_1: so be it"),
        ("Deny", {"decision": "deny"}, "Denied by key_1: so be it"),
        (
            "Allow this tool for this run",
            {"decision": "approve", "grant": True},
            "Approved by key_1, and further calls of the tool in this run: so be it",
        ),
    ],
)
def test_each_button_sends_its_answer_with_the_digest_of_what_is_shown(
    page: Page, server: FakeServer, button: str, verdict: dict[str, Any], told: str
) -> None:
    asks = opened(page, server)
    asks.get_by_label("Note for the agent, if you like").fill(" so be it ")
    press(page, button)
    expect(asks.locator(".decision")).to_contain_text(told)
    assert server.decisions == [{"digest": ASKED["digest"], "note": "so be it", **verdict}]
    expect(asks.get_by_role("button")).to_have_count(0)
    server.tell(("run.resumed", {"attempt": 2, "reason": "answered"}), ("tool.started", CALL))
    expect(page.locator(".doing")).to_have_text("send is at work")


@pytest.mark.parametrize(
    ("button", "decision", "told"),
    [
        ("It happened", "happened", "It happened, says key_1."),
        ("It did not: make it again", "retry", "It did not happen and is made again, says key_1."),
        ("It did not: leave it", "abort", "It did not happen and is not made again, says key_1."),
    ],
)
def test_an_unknown_outcome_is_asked_about_in_its_own_words(
    page: Page, server: FakeServer, button: str, decision: str, told: str
) -> None:
    unknown = ("tool.unknown", {"call_id": ASKED["call_id"], "name": "send", "detail": "It did not come back."})
    begun = ("tool.started", {**CALL, "effect": "irreversible"})
    asks = opened(page, server, *ASKING[:4], begun, unknown, ("approval.requested", DOUBTED))
    expect(asks.get_by_role("heading", name="Did send happen?")).to_be_visible()
    expect(asks).to_contain_text("nobody knows how it ended")
    expect(asks).to_contain_text("If nobody answers, the run fails.")
    press(page, button)
    expect(asks.locator(".decision")).to_contain_text(told)
    assert [sent["decision"] for sent in server.decisions] == [decision]


def test_other_arguments_are_written_as_json_and_what_is_wrong_with_them_is_said(
    page: Page, server: FakeServer
) -> None:
    asks = opened(page, server)
    press(page, "Edit…")
    editor = asks.get_by_label("Arguments of the call that is to be made, as JSON")
    expect(editor).to_be_focused()
    assert json.loads(editor.input_value()) == ASKED["args"]
    editor.fill('{"to": ')
    press(page, "Approve with these")
    expect(asks).to_contain_text("This is no JSON")
    expect(editor).to_have_attribute("aria-invalid", "true")
    assert server.decisions == []
    detail = "to: it must be a list"
    server.refusal = {"status": 400, "code": "invalid_args", "field": "args", "detail": detail, "request_id": "req-7"}
    editor.fill('{"to": 3}')
    press(page, "Approve with these")
    expect(asks.get_by_role("alert")).to_have_text(f"Not taken: {detail} (request req-7).")
    expect(editor).to_be_focused()
    server.refusal = None
    editor.fill('{"to": "bert"}')
    press(page, "Approve with these")
    expect(asks.locator(".decision")).to_contain_text("Approved with other arguments by key_1")
    expect(asks.locator(".decision pre")).to_have_text('{\n  "to": "bert"\n}')
    assert server.decisions[-1] == {"digest": ASKED["digest"], "decision": "edit", "args": {"to": "bert"}}
    expect(page.locator(".call-args")).to_have_text('{"to":"bert"}')


def test_escape_leaves_the_editor_and_sends_nothing(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    press(page, "Edit…")
    page.keyboard.press("Escape")
    expect(asks.get_by_role("button", name="Edit…")).to_be_focused()
    expect(asks.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert server.decisions == []


def test_whoever_comes_second_sees_what_stands(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    detail = "the decision was deny, by key_2"
    server.refusal = {"status": 409, "code": "approval_decided", "detail": detail}
    press(page, "Approve")
    expect(asks.get_by_role("alert")).to_have_text(f"Not taken: {detail}.")
    expect(asks.get_by_role("button")).to_have_count(0)
    server.tell(resolved("deny", by="key_2", note="too late"))
    expect(asks.locator(".decision")).to_contain_text("Denied by key_2: too late")


def test_a_decision_that_somebody_else_makes_meanwhile_is_shown_as_it_comes(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    server.tell(resolved("approve", by="key_2"))
    expect(asks.locator(".decision")).to_contain_text("Approved by key_2.")
    asks.get_by_text("What was asked").click()
    expect(asks.locator(".preview")).to_be_visible()
    expect(asks.get_by_role("button")).to_have_count(0)


def test_a_question_that_nobody_answered_says_so(page: Page, server: FakeServer) -> None:
    asks = opened(page, server, *ASKING, resolved("expired", by="clock"))
    expect(asks.locator(".decision")).to_contain_text("Nobody answered in time.")


def test_a_cancelled_run_asks_nothing_any_more(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    page.get_by_role("button", name="Cancel").click()
    expect(asks.locator(".decision")).to_have_text("The run ended before anybody answered.")
    expect(asks.get_by_role("button")).to_have_count(0)


def test_a_refused_call_says_which_rule_refused_it(page: Page, server: FakeServer) -> None:
    refused = {
        "call_id": ASKED["call_id"],
        "name": "send",
        "ok": False,
        "content": "no rule allows it",
        "refused": True,
    }
    server.tell(*ASKING[:4], ("tool.finished", refused))
    page.goto(server.run_url)
    expect(page.locator(".call-state")).to_have_text("refused")
    page.locator(".call summary").click()
    expect(page.locator(".call-body pre").nth(1)).to_have_text("no rule allows it")


def test_a_call_that_waits_for_somebody_outside_says_so(page: Page, server: FakeServer) -> None:
    begun = {**CALL, "answers": "outside", "deadline": ASKED["expires_at"], "effect": "read"}
    server.tell(*ASKING[:4], ("tool.started", begun), ("run.waiting", {"for": "tool", "detail": None}))
    page.goto(server.run_url)
    expect(page.locator(".call-state")).to_have_text("awaited")
    expect(page.locator(".doing")).to_have_text("waiting for an answer from outside")


def test_arguments_that_lie_apart_are_read_before_anybody_can_approve_them(page: Page, server: FakeServer) -> None:
    server.payload = {"to": "anna", "body": "long"}
    large = {**ASKED, "args": {"payload": {"digest": DIGEST, "bytes": 40_000}}}
    asks = opened(page, server, *ASKING[:4], ("approval.requested", large))
    expect(asks.locator("pre")).to_have_text(json.dumps(server.payload, indent=2))
    press(page, "Edit…")
    editor = asks.get_by_label("Arguments of the call that is to be made, as JSON")
    assert json.loads(editor.input_value()) == server.payload


def test_arguments_that_cannot_be_read_can_only_be_denied(page: Page, server: FakeServer) -> None:
    large = {**ASKED, "args": {"payload": {"digest": "0" * 64, "bytes": 40_000}}}
    asks = opened(page, server, *ASKING[:4], ("approval.requested", large))
    expect(asks.get_by_role("alert")).to_contain_text("The arguments can't be read")
    for name in ("Approve", "Edit…", "Allow this tool for this run"):
        expect(asks.get_by_role("button", name=name, exact=True)).to_be_disabled()
    press(page, "Deny")
    expect(asks.locator(".decision")).to_contain_text("Denied by key_1.")


def test_what_a_question_holds_is_never_read_as_html_and_nothing_hides_in_it(page: Page, server: FakeServer) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202egpj"
    asked = {**ASKED, "name": evil, "args": {"to": evil}, "preview": evil, "rule": f"{evil}\nasked about: {evil}"}
    server.tell(*ASKING[:4], ("approval.requested", asked))
    page.goto(f"{server.url}/#approvals")
    for place in ("#inbox", "#timeline"):
        expect(page.locator(f"{place} .preview")).to_have_text(evil.replace("\u202e", "\\u202e"))
        expect(page.locator(f"{place} .question pre")).to_contain_text("<img src=x onerror=alert(1)>")
        assert page.locator(f"{place} :is(script, img)").count() == 0
        page.goto(server.run_url)


def test_the_inbox_counts_what_is_open_and_answers_it_from_anywhere(page: Page, server: FakeServer) -> None:
    server.tell(*OPENING)
    page.clock.install()
    page.goto(f"{server.url}/#approvals")
    expect(page.locator("#questions-state")).to_have_text("Nothing is asked.")
    expect(page.locator("#inbox-count")).to_be_hidden()
    server.tell(*ASKING[3:])
    page.clock.run_for(10_000)
    expect(page.locator("#inbox-count")).to_have_text("1")
    expect(page).to_have_title("(1) Pawl")
    expect(card(page).get_by_role("link", name="this run")).to_have_attribute(
        "href", f"#{server.run_url.split('#')[1]}"
    )
    press(page, "Deny")
    expect(card(page).locator(".decision")).to_contain_text("Denied by key_1.")
    expect(page.locator("#inbox-count")).to_be_hidden()
    expect(page).to_have_title("Pawl")
    page.get_by_role("link", name="Pawl").click()
    page.get_by_role("link", name="Approvals").click()
    expect(page.get_by_role("heading", name="What runs ask")).to_be_focused()
    expect(card(page)).to_have_count(0)


def test_the_inbox_is_left_alone_while_nobody_sees_it(page: Page, server: FakeServer) -> None:
    server.tell(*ASKING)
    page.clock.install()
    page.goto(server.url)
    expect(page.locator("#inbox-count")).to_have_text("1")
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    before = len(asked_inbox(server))
    page.clock.run_for(60_000)
    assert len(asked_inbox(server)) == before


def asked_inbox(server: FakeServer) -> list[str]:
    return [path for _, path, _ in server.asked if path == "/v1/approvals"]


def test_a_card_of_the_inbox_that_is_settled_elsewhere_stays_and_says_so(page: Page, server: FakeServer) -> None:
    server.tell(*ASKING)
    page.clock.install()
    page.goto(f"{server.url}/#approvals")
    press(page, "Edit…")
    server.tell(resolved("deny"))
    page.clock.run_for(10_000)
    expect(card(page).locator(".decision")).to_contain_text("This is not asked any more")
    expect(card(page).locator(".decision")).to_be_focused()


def test_it_can_all_be_answered_with_the_keyboard(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    asks.locator("pre").focus()
    page.keyboard.press("Tab")
    expect(asks.get_by_label("Note for the agent, if you like")).to_be_focused()
    page.keyboard.type("go on")
    page.keyboard.press("Tab")
    expect(asks.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(asks.locator(".decision")).to_be_focused()
    assert server.decisions[0]["note"] == "go on"


def test_a_screen_reader_hears_the_question_and_not_its_clock(page: Page, server: FakeServer) -> None:
    asks = opened(page, server)
    expect(asks).to_have_role("region")
    expect(asks).to_have_accessible_name("May send be called?")
    assert page.locator("#timeline[aria-live=polite] .question").count() == 1
    expect(asks.locator("time + span")).to_have_attribute("aria-live", "off")
    expect(asks.locator("pre")).to_have_accessible_name("Exact arguments")


SETTLED = (
    *ASKING[:4],
    ("approval.requested", ASKED),
    resolved("edit", edited={"call_id": f"{ASKED['call_id']}e", "args": {"to": "x" * 300}}, note="y" * 300),
    ("tool.started", {**CALL, "call_id": f"{ASKED['call_id']}e", "args": {"to": "x" * 300}}),
    ("tool.unknown", {"call_id": f"{ASKED['call_id']}e", "name": "send", "detail": "z" * 300}),
    ("approval.requested", {**DOUBTED, "call_id": f"{ASKED['call_id']}e", "approval_id": "ap_8"}),
)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out(
    page: Page, server: FakeServer, size: ViewportSize, scheme: Any
) -> None:
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    server.tell(*SETTLED)
    page.goto(server.run_url)
    expect(page.locator("#timeline .question")).to_have_count(2)
    card(page).first.get_by_text("What was asked").click()
    check(page, size)
    page.goto(f"{server.url}/#approvals")
    expect(page.locator("#inbox .question")).to_have_count(1)
    check(page, size)


def test_the_editor_and_its_problem_pass_axe_too(page: Page, server: FakeServer) -> None:
    opened(page, server)
    page.set_viewport_size(PHONE)
    press(page, "Edit…")
    page.locator("#timeline textarea.code").fill("[")
    press(page, "Approve with these")
    check(page, PHONE)


def check(page: Page, size: ViewportSize) -> None:
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_run_that_was_folded_shows_who_decided_what(page: Page, server: FakeServer) -> None:
    decision = {"approval_id": APPROVAL, "question": "call", "decision": "deny", "by": "key_7", "note": "no"}
    call = {**CALL, "state": "finished", "ok": False, "content": "denied", "decisions": [decision]}
    step = {"step": 1, "text": "", "open": False, "calls": [call]}
    end = {"type": END[0], "data": END[1]}
    server.tell(("snapshot", {"status": "done", "messages": [], "steps": [step], "totals": {}, "end": end}))
    page.goto(server.run_url)
    expect(card(page).locator(".decision")).to_contain_text("Denied by key_7: no")
    expect(page.locator(".call-state")).to_have_text("denied")
