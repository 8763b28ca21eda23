from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

from tests.console import chromium
from tests.console.fake_server import FakeServer

DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
PATIENCE = 20_000
"""Milliseconds that the page has for what a test expects of it."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = chromium.executable()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh one, on a desktop's screen. Whatever goes wrong in its scripts fails the test."""
    with browser.new_context(viewport=DESKTOP, reduced_motion="reduce") as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        faults: list[str] = []
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("console", lambda said: faults.append(said.text) if _is_fault(said) else None)
        yield page
    assert faults == []


def _is_fault(said: ConsoleMessage) -> bool:
    """A server that is away, or refuses, is told of by the browser too: that is what some tests are about."""
    return said.type == "error" and "Failed to load resource" not in said.text


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server
