"""The page in a browser, in front of a server whose one run goes on when the test says so."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.clients.fake_pawl import OPENING, replied, said
from tests.console.conftest import DESKTOP, PHONE
from tests.console.fake_server import POLLED_ONLY, SOCKET, STREAM, FakeServer

CALL: dict[str, Any] = {"call_id": "c", "name": "clock", "args": {"zone": "UTC"}}
STORY: tuple[tuple[str, dict[str, Any]], ...] = (
    *OPENING,
    said("Let me look at the clock."),
    replied("Let me look at the clock."),
    ("tool.started", CALL),
    ("tool.finished", {"call_id": "c", "name": "clock", "ok": True, "content": "noon"}),
    ("step.started", {"step": 2}),
    said("## Noon\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nIt is **noon**, `really`.", 2),
)
END = ("run.done", {"output": {"text": "noon"}})


def opened(page: Page, server: FakeServer, transport: str = "poll") -> None:
    """The page on the server's run, by that way out."""
    page.add_init_script(f"localStorage.setItem('pawl.transport', '{transport}')")
    page.goto(server.run_url)


def prose(page: Page, step: int = 1) -> Any:
    return page.locator(".step", has=page.get_by_role("heading", name=f"Step {step}")).locator(".prose")


@pytest.mark.parametrize(
    ("transport", "kind"),
    [("poll", "application/json"), ("eventsource", STREAM), ("fetch", STREAM), ("websocket", SOCKET)],
)
def test_each_way_out_shows_the_run_as_it_comes_and_over_broken_streams(
    page: Page, server: FakeServer, transport: str, kind: str
) -> None:
    server.tell(*OPENING, said("One "))
    opened(page, server, transport)
    expect(prose(page)).to_have_text("One ")
    for word in ("two ", "three ", "four"):
        server.drop()
        server.tell(said(word))
    expect(prose(page)).to_have_text("One two three four")
    server.tell(replied("One two three four"), END)
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator("#connection")).to_have_text("the log ends at event 8")
    assert kind in server.kinds()


def test_a_run_that_is_started_by_fetch_streams_out_of_the_very_answer(page: Page, server: FakeServer) -> None:
    opened(page, server, "fetch")
    page.goto(server.url)
    page.get_by_label("What is to be done").fill("Count")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Count")
    server.tell(*OPENING[1:], said("One"))
    expect(prose(page)).to_have_text("One")
    server.tell(replied("One"), END)
    expect(page.locator("#status")).to_have_text("done")
    starts = [asked for asked in server.asked if asked[0] == "POST"]
    assert starts == [("POST", "/v1/runs", STREAM)]


def test_an_event_that_a_stream_leaves_out_is_read(page: Page, server: FakeServer) -> None:
    server.hidden = {4}
    server.tell(*OPENING)
    opened(page, server, "eventsource")
    expect(page.locator(".doing")).to_have_text("waiting for the first token")
    server.tell(said("One "), said("two "), said("three"))
    expect(prose(page)).to_have_text("One two three")


def test_a_server_that_only_answers_polls_offers_no_choice(page: Page, server: FakeServer) -> None:
    server.contract = POLLED_ONLY
    server.tell(*OPENING, said("One"))
    opened(page, server, "eventsource")
    expect(prose(page)).to_have_text("One")
    expect(page.locator("#transport-field")).to_be_hidden()
    expect(page.locator("#connection")).to_have_text("following by polling")
    assert server.kinds() == {"application/json"}


def test_the_way_out_is_changed_in_mid_run_from_the_cursor_on(page: Page, server: FakeServer) -> None:
    server.tell(*OPENING, said("One "))
    opened(page, server)
    page.get_by_label("Follow by").select_option("EventSource")
    expect(page.locator("#connection")).to_have_text("following by EventSource")
    server.tell(said("two"))
    expect(prose(page)).to_have_text("One two")


def test_text_of_a_dead_model_call_is_taken_back(page: Page, server: FakeServer) -> None:
    server.tell(*OPENING, said("Dead words"))
    opened(page, server)
    expect(prose(page)).to_have_text("Dead words")
    server.tell(("run.attempt", {"attempt": 2, "reason": "lapsed"}), ("step.reset", {"step": 1, "from_seq": 3}))
    expect(prose(page)).to_have_text("")
    server.tell(said("Living words"))
    expect(prose(page)).to_have_text("Living words")
    expect(page.get_by_text("a new worker goes on (attempt 2, lapsed)")).to_be_visible()


def test_what_a_model_says_is_never_read_as_html(page: Page, server: FakeServer) -> None:
    evil = "<img src=x onerror=alert(1)> **<b>bold</b>** `<script>alert(1)</script>`"
    server.tell(("run.accepted", {"agent": "demo", "text": evil}), *OPENING[1:], said(evil), replied(evil))
    server.tell(("tool.started", {**CALL, "name": evil}), ("run.failed", {"error": {"code": evil, "detail": evil}}))
    opened(page, server)
    expect(page.locator(".end")).to_contain_text("<img src=x")
    page.get_by_role("tab", name="Log").click()
    page.locator("#log summary").first.click()
    expect(page.locator("#log pre").first).to_contain_text("<img src=x")
    assert page.locator("main :is(script, b), #run img").count() == 0


def test_every_event_can_be_inspected_as_it_came(page: Page, server: FakeServer) -> None:
    server.tell(*STORY)
    opened(page, server)
    expect(page.locator(".call")).to_contain_text("finished")
    page.get_by_role("tab", name="Log").click()
    expect(page.locator("#log > li")).to_have_count(len(STORY))
    page.locator("#log summary", has_text="tool.finished").click()
    shown = page.locator("#log pre", has_text="noon")
    assert json.loads(shown.inner_text()) == server.log[6]


def test_it_can_all_be_done_with_the_keyboard(page: Page, server: FakeServer) -> None:
    page.goto(server.url)
    expect(page.locator("#go")).to_be_enabled()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the run")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("Tab")
    expect(page.get_by_label("What is to be done")).to_be_focused()
    page.keyboard.type("Count")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    server.tell(*OPENING[1:], said("One"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("cancelling")
    page.keyboard.press("Tab")
    expect(page.get_by_role("tab", name="Steps")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Log")).to_be_focused()
    expect(page.locator("#log")).to_be_visible()


def test_a_screen_reader_hears_whole_blocks_and_the_state_of_the_connection(page: Page, server: FakeServer) -> None:
    server.tell(*OPENING, said("First block.\n\nSecond blo"))
    opened(page, server)
    blocks = prose(page).locator("p")
    expect(blocks.nth(0)).to_have_attribute("aria-busy", "false")
    expect(blocks.nth(1)).to_have_attribute("aria-busy", "true")
    server.tell(replied("First block.\n\nSecond block."))
    expect(blocks.nth(1)).to_have_attribute("aria-busy", "false")
    expect(page.locator("#timeline")).to_have_attribute("aria-live", "polite")
    expect(page.locator("#connection")).to_have_role("status")


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop", "phone"])
def test_axe_finds_nothing_and_nothing_sticks_out(
    page: Page, server: FakeServer, size: ViewportSize, scheme: Any
) -> None:
    server.tell(*STORY, ("run.failed", {"error": {"code": "crash_loop", "detail": "x" * 300}}))
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    opened(page, server)
    expect(page.locator(".end")).to_be_visible()
    for tab in ("Log", "Steps"):
        page.get_by_role("tab", name=tab).click()
        page.locator("main details:visible summary").first.click()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.goto(server.url)
    expect(page.locator("#runs > li")).to_have_count(1)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def violations(page: Page) -> list[str]:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text()
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


def test_nothing_jumps_while_text_streams(page: Page, server: FakeServer) -> None:
    page.add_init_script(
        """globalThis.shifts = [];
        new PerformanceObserver((list) => globalThis.shifts.push(...list.getEntries().map((entry) => entry.value)))
          .observe({type: "layout-shift", buffered: true});"""
    )
    server.tell(*OPENING)
    opened(page, server)
    expect(page.locator(".doing")).to_have_text("waiting for the first token")
    page.evaluate("globalThis.shifts.length = 0")
    for word in re.findall(r"\S+\s*", STORY[-1][1]["text"]):
        server.tell(said(word))
        expect(page.locator("#log-count")).to_have_text(str(len(server.log)))
    server.tell(replied(STORY[-1][1]["text"]), END)
    expect(page.locator(".end")).to_be_visible()
    assert sum(page.evaluate("globalThis.shifts")) < 0.01


def test_a_run_that_is_not_there_says_so(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}/#run_01jz0000000000000000000001")
    expect(page.locator("#connection")).to_have_text("the server answered 404")
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()
