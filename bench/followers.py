"""`python -m bench.followers CLIENT URL`: follow a run as the users of one client do, and print each seq as it comes.

What a client delivers is printed as it is: nothing is put in order or left out here. The key stands in PAWL_KEY.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import httpx
from httpx_sse import connect_sse
from playwright.sync_api import sync_playwright
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from chalicelib.core.events import ENDS, EventType
from tests.console import chromium

STREAM = "text/event-stream"
PAUSE = 0.2
"""Seconds between two tries of the clients that leave reconnecting to their user."""

PING_EVERY = 10.0
NO_CURSOR = bool(os.environ.get("PAWL_NO_CURSOR"))
"""With it, whoever subscribes always asks for everything, and drops nothing."""

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


SOCKET_SCRIPT = """({base, run, key, noCursor, pause}) => {
  let last = -1;
  let ended = false;
  const open = async () => {
    const again = () => { if (!ended) setTimeout(() => open().catch(again), pause); };
    const headers = {Authorization: `Bearer ${key}`, "Content-Type": "application/json"};
    const {ticket} = await (await fetch(`${base}/v1/tickets`, {method: "POST", headers, body: "{}"})).json();
    const socket = new WebSocket(`${base.replace("http", "ws")}/v1/socket?ticket=${ticket}`);
    const ping = setInterval(() => { if (socket.readyState === 1) socket.send('{"action": "ping"}'); }, 10000);
    socket.onopen = () => socket.send(JSON.stringify({action: "subscribe", run_id: run, since: noCursor ? -1 : last}));
    socket.onmessage = ({data}) => {
      const {events = [], done = false} = JSON.parse(data);
      for (const {seq} of events) {
        if (noCursor || seq === last + 1) seen(last = seq);
        else if (seq > last) socket.close();
      }
      if (done && !noCursor) { ended = true; seen(-1); }
    };
    socket.onclose = () => { clearInterval(ping); again(); };
  };
  open();
}"""


def follow_with_the_browsers_websocket(url: str) -> None:
    """Chromium's own WebSocket, in a page that subscribes again with its cursor whenever it is closed."""
    run_id = url.split("/")[-2]
    asked = {"base": _base(url), "run": run_id, "key": key(), "noCursor": NO_CURSOR, "pause": 1000 * PAUSE}
    in_a_page(f"{_base(url)}/healthz", SOCKET_SCRIPT, asked)


def follow_with_the_browser(url: str) -> None:
    """Chromium's own EventSource, which reconnects by itself, until a 204 ends it.

    If a line breaks in the head of an answer, Chromium (over plain HTTP) takes that for the whole head, finds no type
    in it, and gives up for good: the page makes a new one, as it does after a 5xx.

    It can send no key: a page has a cookie or a ticket. Here the browser is told to add the header to each request.
    """
    in_a_page(f"{_base(url)}/healthz", PAGE_SCRIPT, {"url": url, "types": [*EventType], "ends": [*ENDS]})


def in_a_page(home: str, script: str, asked: Mapping[str, object]) -> None:
    """Run a script in a page of Chromium's, until it has `seen(-1)`; what else it has seen is told."""
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
        page.goto(home)
        page.evaluate(script, asked)
        while not over.is_set():
            page.wait_for_timeout(100)
        browser.close()


def follow_with_websockets(url: str) -> None:
    """websockets carries frames; its user drops what is not above the cursor, and subscribes again with it."""
    last, ended = -1, False
    run_id = url.split("/")[-2]
    while not ended:
        # The line broke, or an event is out of reach: again, with the cursor.
        with (
            suppress(OSError, WebSocketException, httpx.TransportError),
            connect(socket_url(url), proxy=None) as socket,
        ):
            socket.send(json.dumps({"action": "subscribe", "run_id": run_id, "since": -1 if NO_CURSOR else last}))
            for frame in frames_of(socket):
                for event in frame.get("events", ()):
                    if NO_CURSOR or event["seq"] == last + 1:
                        last = event["seq"]
                        told(last)
                    elif event["seq"] > last:
                        raise OSError(f"{event['seq']} is out of reach behind {last}")
                if ended := frame.get("done", False):
                    break
        threading.Event().wait(PAUSE)


def socket_url(url: str) -> str:
    """The socket's address, with a ticket."""
    return f"{_base(url).replace('http', 'ws', 1)}/v1/socket?ticket={a_ticket(url)}"


def frames_of(socket: ClientConnection) -> Iterator[dict[str, Any]]:
    """The frames as they come; a ping is sent whenever none has come for as long as docs/delivery.md asks for."""
    while True:
        try:
            yield json.loads(socket.recv(timeout=PING_EVERY))
        except TimeoutError:
            socket.send(json.dumps({"action": "ping"}))


def a_ticket(url: str) -> str:
    """A ticket for the run of that URL."""
    headers = {"Authorization": f"Bearer {key()}"}
    answer = httpx.post(f"{_base(url)}/v1/tickets", json={}, headers=headers, trust_env=False)
    return str(answer.raise_for_status().json()["ticket"])


def _base(url: str) -> str:
    return url.partition("/v1/")[0]


FOLLOWERS: Mapping[str, Callable[[str], None]] = {
    "httpx-sse": follow_with_httpx_sse,
    "curl": follow_with_curl,
    "browser": follow_with_the_browser,
    "websockets": follow_with_websockets,
    "browser, WebSocket": follow_with_the_browsers_websocket,
}


if __name__ == "__main__":
    FOLLOWERS[sys.argv[1]](sys.argv[2])
