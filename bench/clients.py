"""Clients that others wrote follow a run while their lines are broken: `python -m bench.clients`.

Each client has a proxy of its own, which breaks its line fifty times, in the middle of a frame too. All of them follow
one run of 500 events as it grows, no faster than their lines are broken: by the buffered form of SSE (Chalice), by the
streamed one (the edge), by WebSocket (the local cloud). Then the same again with the cursor withheld, as long as lines
are broken: what comes doubled.

Node's clients are installed where they are pinned: `npm ci --prefix bench/clients`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from random import Random

from bench import printed
from bench.cloud import ROOT, Cloud, a_cloud, a_rest_api, a_secret, an_edge, free_port
from bench.drops import Drops, dropping
from bench.growing import Growing
from bench.seen import Seen, judged
from chalicelib import bootstrap
from chalicelib.core.events import EventType
from infra.local import packaged
from infra.local.cloud import LocalCloud

NODE = ("eventsource", "fetch-event-source")
CLIENTS = {
    "buffered": (*NODE, "httpx-sse", "browser", "curl"),
    "streamed": (*NODE, "httpx-sse", "browser", "curl"),
    "WebSocket": ("websockets", "browser, WebSocket"),
}
LENGTH, DROPS, EVERY = 500, 50, 0.12
"""Events of the run, broken lines of a client, and seconds between two events."""

CUTS = {"buffered": (150, 900), "streamed": (150, 2600), "WebSocket": (300, 3000)}
"""Bytes after which a line breaks, heads among them: in the first frame, or up to some frames later."""

CUTS_WITHOUT = {**CUTS, "WebSocket": (8_000, 20_000)}
"""The same with the cursor withheld. A socket's replay comes fifty events a frame, of which nothing is seen before its
end."""

BROKEN_BY = 0.9
"""The part of the log by whose end all lines are to have been broken: who has the whole of it does not come back."""

PATIENCE = 400
"""Seconds that a client has for all of it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one client saw in one form; `doubled_without` is what came twice with its cursor withheld."""

    client: str
    form: str
    drops: int
    seen: Seen
    doubled_without: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the run is served in one form: the port, and the path of a run's stream."""

    form: str
    port: int
    path: str


@contextmanager
def places(cloud: Cloud) -> Iterator[Sequence[Place]]:
    """Both forms of SSE, each served by a process of its own."""
    rest, edge = free_port(), free_port()
    with a_rest_api(cloud, rest), an_edge(cloud, edge):
        yield Place("buffered", rest, "events"), Place("streamed", edge, "stream")


@contextmanager
def sockets() -> Iterator[tuple[Cloud, Place]]:
    """The local cloud, which has WebSockets, in this process."""
    with LocalCloud(packaged.options({}, ticking=False)) as local:
        world = bootstrap.world()
        port = int(local.url.rpartition(":")[2])
        yield Cloud({}, world, a_secret(world)), Place("WebSocket", port, "socket")


def measure(cloud: Cloud, place: Place, clients: Sequence[str], length: int, drops: int, every: float) -> list[Row]:
    """One run, followed by all clients at once; then another one, without cursors."""
    followed = _followed(cloud, place, clients, length, drops, every, withhold=False)
    control = _followed(cloud, place, clients, length, drops, every, withhold=True)
    return [
        Row(client, place.form, made, judged(seqs, length), judged(control[client][0], length).doubled)
        for client, (seqs, made) in followed.items()
    ]


def _followed(
    cloud: Cloud, place: Place, clients: Sequence[str], length: int, drops: int, every: float, *, withhold: bool
) -> dict[str, tuple[list[int], int]]:
    """By client: the seqs that it told of, and how often its line was broken."""
    run, enough, all_there = Growing(cloud), threading.Event(), threading.Barrier(len(clients) + 1)
    proxies: list[Drops] = []
    path = f"/v1/runs/{run.run_id}/{place.path}"

    def follow(client: str) -> tuple[list[int], int]:
        random, cuts = Random(client), (CUTS_WITHOUT if withhold else CUTS)[place.form]
        with dropping(place.port, drops, lambda: random.randint(*cuts), withhold=withhold) as (port, proxy):
            proxies.append(proxy)
            url = f"http://127.0.0.1:{port}{path}"
            seqs = _told(client, url, cloud.key, all_there, proxy.all_made if withhold else None)
            return seqs, proxy.made

    def grow() -> None:
        """Once every client has its first event: a browser takes seconds to start."""
        with suppress(threading.BrokenBarrierError):  # a client failed, and whoever waits for it is told
            all_there.wait(PATIENCE)
            run.grow(length, every, enough, lambda tail: not withhold and _owed(proxies, drops, tail / length))

    grower = threading.Thread(target=grow)
    grower.start()
    try:
        with ThreadPoolExecutor(len(clients)) as hands:
            return dict(zip(clients, hands.map(follow, clients), strict=True))
    finally:
        all_there.abort()
        enough.set()
        grower.join()


def _owed(proxies: Sequence[Drops], drops: int, grown: float) -> bool:
    """Whether a line has been broken too seldom for a log of which that part is written."""
    due = min(int(drops * grown / BROKEN_BY), drops)
    return any(proxy.made < due for proxy in proxies)


def _told(client: str, url: str, key: str, all_there: threading.Barrier, until: threading.Event | None) -> list[int]:
    """The seqs that a client's process printed until it ended, or until it was stopped."""
    settings = {**os.environ, "PAWL_KEY": key, "PAWL_TYPES": ",".join(EventType)}
    if until is not None:
        settings["PAWL_NO_CURSOR"] = "yes"
    with subprocess.Popen(_command(client, url), cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        late = threading.Timer(PATIENCE, process.kill)
        late.start()
        stopper = threading.Thread(target=_kill_after, args=(process, until), daemon=True)
        stopper.start()
        seqs: list[int] = []
        for line in process.stdout:
            if not seqs:
                all_there.wait(PATIENCE)
            if line.endswith("\n"):
                seqs.append(int(line))
        late.cancel()
    if process.returncode if until is None else not until.is_set():
        raise RuntimeError(f"{client} ended with {process.returncode}, {len(seqs)} events in")
    return seqs


def _kill_after(process: subprocess.Popen[str], until: threading.Event | None) -> None:
    if until is not None:
        until.wait()
        process.kill()


def _command(client: str, url: str) -> Sequence[str]:
    if client in NODE:
        return ["node", "bench/clients/follow.mjs", client, url]
    return [sys.executable, "-m", "bench.followers", client, url]


def main() -> int:
    """Print the table; 1 if a client missed an event, got one twice, or got one out of order."""
    asked = _arguments()
    with a_cloud() as cloud, places(cloud) as both:
        rows = [row for place in both for row in measure(cloud, place, *_plan(place, asked))]
    with sockets() as (cloud, place):
        rows += measure(cloud, place, *_plan(place, asked))
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)
    return 0 if all(row.seen.whole and row.drops == asked.drops for row in rows) else 1


def _cells(row: Row) -> Mapping[str, object]:
    return {
        "client": row.client,
        "form": row.form,
        "broken lines": row.drops,
        "received": row.seen.received,
        "missing": row.seen.missing,
        "doubled": row.seen.doubled,
        "in order": "yes" if row.seen.in_order else "no",
        "doubled without cursor": row.doubled_without,
    }


def _arguments() -> argparse.Namespace:
    parser = printed.arguments("bench.clients", __doc__)
    parser.add_argument("--events", type=int, default=LENGTH)
    parser.add_argument("--drops", type=int, default=DROPS)
    parser.add_argument("--every", type=float, default=EVERY, help="seconds between two events")
    return parser.parse_args()


def _plan(place: Place, asked: argparse.Namespace) -> tuple[Sequence[str], int, int, float]:
    return CLIENTS[place.form], asked.events, asked.drops, asked.every


if __name__ == "__main__":
    sys.exit(main())
