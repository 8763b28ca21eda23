"""From an append to the client, by each way out: `python -m bench.latency`.

A run's log grows at uneven times; one client follows by each way out, each served by a process of its own, but for the
WebSocket: that is served by the local cloud in this process, where the table's stream adds no latency of its own.
Measured from the moment at which the append is answered (the event stands in the table) to the client's having the
event. What an append takes is measured beside, and so is what a push past the table would take: one line to a listener,
in the moment in which the append begins.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from random import Random
from statistics import median, quantiles
from time import monotonic

import httpx
from httpx_sse import connect_sse
from websockets.sync.client import connect

from bench import printed
from bench.clients import places, sockets
from bench.cloud import Cloud, a_cloud
from bench.followers import frames_of
from bench.growing import Growing

EVENTS = 150
BETWEEN = (0.25, 0.75)
"""Seconds between two appends: uneven, so that they do not fall in step with anybody who looks."""

Came = dict[int, float]
Follow = Callable[[httpx.Client, str, Came], None]


@dataclass(frozen=True, slots=True)
class Row:
    """Milliseconds, over all events of the run but the first ones."""

    way: str
    median_ms: float
    p95_ms: float
    most_ms: float


def poll(client: httpx.Client, path: str, came: Came) -> None:
    """JSON, as the answers ask for it: held for 20 s, and asked again after `next_poll_ms`."""
    since, done, pause = -1, False, threading.Event()
    while not done:
        page = client.get(f"{path}/events", params={"since": since, "wait": 20}).json()
        came |= {event["seq"]: monotonic() for event in page["events"]}
        since, done = page["next_since"], page["done"]
        pause.wait(page["next_poll_ms"] / 1000)


def windows(client: httpx.Client, path: str, came: Came) -> None:
    """SSE, buffered: asked again after `retry`, with the cursor."""
    headers, pause, retry = {"Accept": "text/event-stream"}, threading.Event(), 0
    while True:
        with connect_sse(client, "GET", f"{path}/events", headers=headers) as source:
            if source.response.status_code == 204:
                return
            for event in source.iter_sse():
                came[int(event.id)] = monotonic()
                headers["Last-Event-ID"] = event.id
                retry = event.retry or retry
        pause.wait(retry / 1000)


def stream(client: httpx.Client, path: str, came: Came) -> None:
    """SSE, streamed."""
    with connect_sse(client, "GET", f"{path}/stream") as source:
        for event in source.iter_sse():
            came[int(event.id)] = monotonic()


def by_socket(client: httpx.Client, path: str, came: Came) -> None:
    """A WebSocket that has subscribed to the run."""
    ticket = client.post("/v1/tickets", json={}).raise_for_status().json()["ticket"]
    url = f"{str(client.base_url).replace('http', 'ws', 1).rstrip('/')}/v1/socket?ticket={ticket}"
    with connect(url, proxy=None) as socket:
        socket.send(json.dumps({"action": "subscribe", "run_id": path.rpartition("/")[2], "since": -1}))
        for frame in frames_of(socket):
            came |= {event["seq"]: monotonic() for event in frame.get("events", ()) if event["seq"] not in came}
            if frame.get("done"):
                return


WAYS: Mapping[str, tuple[str, Follow]] = {
    "poll (`wait=20`)": ("buffered", poll),
    "SSE, buffered": ("buffered", windows),
    "SSE, streamed": ("streamed", stream),
    "WebSocket": ("WebSocket", by_socket),
}


class Listener:
    """Gets a line for each seq, past the table."""

    def __init__(self, came: Came) -> None:
        near, far = socket.socketpair()
        self._line, self._came = near.makefile("w"), came
        self._heard = far.makefile("r")
        threading.Thread(target=self._listen, daemon=True).start()

    def tell(self, seq: int) -> None:
        self._line.write(f"{json.dumps({'seq': seq})}\n")
        self._line.flush()

    def _listen(self) -> None:
        for line in self._heard:
            self._came[json.loads(line)["seq"]] = monotonic()


def measure(cloud: Cloud, ports: Mapping[str, int], events: int) -> list[Row]:
    """One run, followed by every way out that is served at one of the ports, by its form."""
    run, pushed, random = Growing(cloud), Came(), Random(1)
    ways = [way for way, (form, _) in WAYS.items() if form in ports]
    came: dict[str, Came] = {way: {} for way in ways}
    listener, pause = Listener(pushed), threading.Event()
    with following(cloud, run, ports, came):
        for _ in range(events):
            pause.wait(random.uniform(*BETWEEN))
            listener.tell(run.tail + 1)
            run.append()
        run.end()
    counted = [seq for seq in run.written if 10 < seq <= events]
    rows = [_row(way, [seen[seq] - run.written[seq] for seq in counted]) for way, seen in came.items()]
    if "streamed" not in ports:
        return rows
    appends = [run.written[seq] - run.asked[seq] for seq in counted]
    past = [pushed[seq] - run.written[seq] for seq in counted]
    return [_row("the append itself", appends), _row("a push past the table", past), *rows]


@contextmanager
def following(cloud: Cloud, run: Growing, ports: Mapping[str, int], came: Mapping[str, Came]) -> Iterator[None]:
    """A client for each way out, until the run has ended."""
    headers = {"Authorization": f"Bearer {cloud.key}"}
    with ExitStack() as opened:
        threads = []
        for way, seen in came.items():
            form, follow = WAYS[way]
            url = f"http://127.0.0.1:{ports[form]}"
            client = opened.enter_context(httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False))
            threads.append(threading.Thread(target=follow, args=(client, f"/v1/runs/{run.run_id}", seen)))
            threads[-1].start()
        yield
        for thread in threads:
            thread.join()


def _row(way: str, seconds: list[float]) -> Row:
    return Row(way, 1000 * median(seconds), 1000 * quantiles(seconds, n=20)[-1], 1000 * max(seconds))


def main() -> None:
    """Print the table."""
    parser = printed.arguments("bench.latency", __doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    asked = parser.parse_args()
    with a_cloud() as cloud, places(cloud) as both:
        rows = measure(cloud, {place.form: place.port for place in both}, asked.events)
    with sockets() as (cloud, place):
        rows += measure(cloud, {place.form: place.port}, asked.events)
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)


def _cells(row: Row) -> Mapping[str, object]:
    return {
        "way out": row.way,
        "median": f"{row.median_ms:,.0f} ms",
        "95 of 100": f"{row.p95_ms:,.0f} ms",
        "at most": f"{row.most_ms:,.0f} ms",
    }


if __name__ == "__main__":
    main()
