"""The console in a browser, on the real local cloud, whose model says what the test lets it say."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from typing import overload

import pytest
from playwright.sync_api import Page, expect

from infra.build import build
from tests.adapters.models.provider import DONE, STOP, Answer, Provider, delta, serving, usage
from tests.console.stage import AWAY, Stage

HALF, REST = ("One ", "two ", "three "), ("four ", "five.")
WHOLE = "One two three four five."


class Held(Sequence[bytes]):
    """A provider's pieces, of which the second half comes when it is let go."""

    def __init__(self) -> None:
        self.going_on = threading.Event()
        self._first = [delta(content=word) for word in HALF]
        self._then = [*(delta(content=word) for word in REST), STOP, usage(9, 5), DONE]

    def __len__(self) -> int:
        return len(self._first) + len(self._then)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if index == len(self._first):
            self.going_on.wait()
        return [*self._first, *self._then][index]


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with serving(Answer()) as provider:
        yield provider


@pytest.fixture
def held(provider: Provider) -> Iterator[Held]:
    """What the model says in this test."""
    pieces = Held()
    provider.answer = Answer(pieces)
    yield pieces
    pieces.going_on.set()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Stage]:
    build()
    stage = Stage(tmp_path_factory.mktemp("cloud"), provider.url)
    stage.start()
    yield stage
    stage.kill()


def start(page: Page, stage: Stage, transport: str = "polling") -> None:
    """A run of the agent that asks the provider, started as a person starts it, with half of its text there."""
    page.goto(stage.url)
    page.get_by_label("Follow by").select_option(transport)
    page.get_by_label("Agent").select_option("chat")
    page.get_by_label("What is to be done").fill("Count to five")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".prose")).to_have_text("One two three")


def status(page: Page) -> str:
    return page.locator("#status").inner_text()


@pytest.mark.parametrize("transport", ["polling", "EventSource", "SSE by fetch", "WebSocket"])
def test_a_run_is_started_its_text_comes_and_it_is_done(page: Page, stage: Stage, held: Held, transport: str) -> None:
    start(page, stage, transport)
    expect(page.locator("#connection")).to_have_text(f"following by {transport}")
    assert status(page) == "streaming"
    assert re.search(r"\d (ms|s)$", page.locator("#first-token").inner_text())
    held.going_on.set()
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator(".prose")).to_have_text(WHOLE)
    expect(page.locator("#connection")).to_have_text(re.compile(r"^the log ends at event \d+$"))
    row = page.locator("#runs a[aria-current=page]")
    expect(row).to_contain_text("Count to five")
    expect(row.locator(".chip")).to_have_text("done")


def test_the_link_of_a_run_shows_it_to_whoever_has_it(page: Page, stage: Stage, held: Held) -> None:
    start(page, stage)
    held.going_on.set()
    expect(page.locator("#status")).to_have_text("done")
    page.reload()
    expect(page.locator(".prose")).to_have_text(WHOLE)
    expect(page.locator(".end")).to_have_text("The run is done.")


def test_a_run_is_cancelled_half_way_and_keeps_the_text_it_had(page: Page, stage: Stage, held: Held) -> None:
    start(page, stage)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#status")).to_have_text("cancelled")
    expect(page.locator(".prose")).to_have_text("One two three ")
    expect(page.locator(".end")).to_contain_text("Cancelled by key_")
    expect(page.get_by_role("button", name="Cancel")).to_be_hidden()


def test_a_server_that_is_killed_in_mid_run_is_waited_for_and_nothing_is_doubled(
    page: Page, stage: Stage, held: Held
) -> None:
    start(page, stage, "EventSource")
    seen = int(page.locator("#log-count").inner_text())
    stage.kill()
    expect(page.locator("#connection")).to_have_text(re.compile(rf"^reconnecting, from event {seen - 1} \(try \d+\)$"))
    expect(page.locator(".prose")).to_have_text("One two three ")
    stage.start(ahead=AWAY)
    expect(page.locator("#connection")).to_have_text("following by EventSource")
    expect(page.get_by_text("the model call broke off and is made again")).to_be_visible()
    held.going_on.set()
    expect(page.locator("#status")).to_have_text("done")
    expect(page.locator(".prose")).to_have_text(WHOLE)
    page.get_by_role("tab", name="Log").click()
    seqs = [int(text) for text in page.locator("#log .seq").all_inner_texts()]
    assert seqs == list(range(len(seqs)))
