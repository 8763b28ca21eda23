"""`python -m bench.followers CLIENT URL`: follow a run as the users of one client do, and print each seq as it comes.

What a client delivers is printed as it is: nothing is put in order or left out here. The key stands in PAWL_KEY.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

import httpx
from httpx_sse import connect_sse
from playwright.sync_api import sync_playwright

from chalicelib.core.events import ENDS, EventType
from tests.console import chromium

STREAM = "text/event-stream"
PAUSE = 0.2
"""Seconds between two tries of the clients that leave reconnecting to their user."""

PAGE_SCRIPT = """({url, types, ends}) => {
  let last = null;
  let ended = false;
  const open = () => {
    const source = new EventSource(last === null ? url : `${url}?since=${last}`);
    for (const type of types) {
      source.addEventListener(type, ({lastEventId}) => {
        last = Number(lastEventId);
        ended ||= ends.includes(type);
        seen(last);
      });
    }
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return;
      if (ended) seen(-1);
      else open();
    };
  };
  open();
}"""


def key() -> str:
    return os.environ["PAWL_KEY"]


def told(seq: int) -> None:
    print(seq, flush=True)


def follow_with_httpx_sse(url: str) -> None:
    """httpx-sse parses; its user keeps the cursor and asks again, until there is nothing more (204)."""
    last: int | None = None
    with httpx.Client(headers={"Authorization": f"Bearer {key()}"}, timeout=30, trust_env=False) as client:
        while True:
            headers = {} if last is None else {"Last-Event-ID": str(last)}
            try:
                with connect_sse(client, "GET", url, headers=headers) as source:
                    if source.response.status_code == 204:
                        return
                    for event in source.iter_sse():
                        if event.event != "trouble":
                            last = int(event.id)
                            told(last)
            except httpx.TransportError:
                pass  # the line broke, which is what this is about
            threading.Event().wait(PAUSE)


def follow_with_curl(url: str) -> None:
    """`curl -N`, run again with the header as often as it ends."""
    last: int | None = None
    ended = False
    while not ended:
        cursor = [] if last is None else ["-H", f"Last-Event-ID: {last}"]
        command = ["curl", "-sN", "-H", f"Authorization: Bearer {key()}", "-H", f"Accept: {STREAM}", *cursor, url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as curl:
            assert curl.stdout is not None
            for fields in frames(curl.stdout):
                if "id" in fields:
                    last, ended = int(fields["id"]), fields["event"] in ENDS
                    told(last)
        threading.Event().wait(PAUSE)


def frames(lines: Iterable[str]) -> Iterator[Mapping[str, str]]:
    """The fields of each frame that came whole."""
    fields: dict[str, str] = {}
    for line in lines:
        if line == "\n":
            yield fields
            fields = {}
        elif line.endswith("\n"):
            name, _, value = line[:-1].partition(": ")
            fields[name] = value


def follow_with_the_browser(url: str) -> None:
    """Chromium's own EventSource, which reconnects by itself, until a 204 ends it.

    If a line breaks in the head of an answer, Chromium (over plain HTTP) takes that for the whole head, finds no type
    in it, and gives up for good: the page makes a new one, as it does after a 5xx.

    It can send no key: a page has a cookie or a ticket. Here the browser is told to add the header to each request.
    """
    over = threading.Event()

    def seen(seq: int) -> None:
        if seq < 0:
            over.set()
        else:
            told(seq)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.executable(), args=chromium.FLAGS)
        page = browser.new_context(extra_http_headers={"Authorization": f"Bearer {key()}"}).new_page()
        page.expose_function("seen", seen)
        page.goto(f"{url.partition('/v1/')[0]}/healthz")
        page.evaluate(PAGE_SCRIPT, {"url": url, "types": [*EventType], "ends": [*ENDS]})
        while not over.is_set():
            page.wait_for_timeout(100)
        browser.close()


FOLLOWERS: Mapping[str, Callable[[str], None]] = {
    "httpx-sse": follow_with_httpx_sse,
    "curl": follow_with_curl,
    "browser": follow_with_the_browser,
}


if __name__ == "__main__":
    FOLLOWERS[sys.argv[1]](sys.argv[2])
