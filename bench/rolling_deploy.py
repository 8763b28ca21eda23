"""An edge is drained and replaced while a crowd watches through nginx: `python -m bench.rolling_deploy`.

Two processes (`python -m chalicelib.edge`) stand behind nginx with docs/proxies/nginx.conf. Two hundred clients follow
one run. The first edge is told to go (SIGTERM), which ends its streams; a new one starts in its place; then the same
with the second. What each client saw is counted. Then the same through an nginx of which nothing was asked.

And two hundred WebSockets through the same nginx at the local cloud, which is killed in mid-run and started again with
its data. That is one process: two could not share its data.

Needs nginx: `apt-get install nginx-light`.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import httpx

from bench import printed
from bench.cloud import Cloud, a_cloud, an_edge, free_port
from bench.crowd import Watcher
from bench.fronts import NAIVE, SAMPLES, nginx
from bench.growing import Growing
from bench.seen import judged
from bench.slow_speaker import a_slow_speaker
from bench.socket_crowd import SocketWatcher
from infra.build import build
from tests.crash.laptop import Laptop
from tests.patience import await_true

WATCHERS, LENGTH, EVERY = 200, 150, 0.2
"""Clients; events of the run, and seconds between two of them."""

SOCKETS = 200
"""WebSocket clients."""

FIRST, SECOND = 40, 75
"""The seqs at which the first and the second edge are replaced: seven seconds apart, less than the ten for which nginx,
as it comes, takes an edge that refused a connection for dead."""

RETRY = 1.0
"""Seconds that a client waits before it reconnects: the stream's own `retry`."""

IDLE = 60.0

JOINED, KILLED, SPEED = 5, 15, 3
"""Events of the run when the sockets open; those that each of them has when the local cloud is killed; how much faster
its time goes."""

WORDS, PAUSE = 30, 3.0
"""What the model says meanwhile, and the seconds between two words. The local cloud takes one to four of them to tell
two hundred sockets of a word: it tells one after the other, and posts and moves each cursor in one interpreter."""

CONFIGS = (SAMPLES / "nginx.conf", NAIVE / "plain.conf")
"""What is recommended, and nginx as it comes."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a crowd saw, counted over its clients; `silence` is a client's longest time without an event, in seconds."""

    form: str
    through: str
    clients: int
    events: int
    missing: int
    dropped: int
    """What came again, and a WebSocket's client dropped, as it is asked to; an SSE client drops nothing."""
    doubled: int
    out_of_order: int
    connections_most: int
    refused: int
    silence_median: float
    silence_longest: float
    drained_in: list[float]
    """Seconds from SIGTERM to the end of each edge that was replaced."""


@dataclass
class Deploy:
    """Two edges, each replaced by a new process at its port when its time comes."""

    cloud: Cloud
    ports: tuple[int, int]
    edges: dict[int, subprocess.Popen[bytes]]
    opened: ExitStack
    drained_in: list[float]

    def replace(self, port: int) -> None:
        """Drain the edge at that port, and start another one there once it is gone."""
        begun = monotonic()
        self.edges[port].send_signal(signal.SIGTERM)
        self.edges[port].wait(timeout=30)
        self.drained_in.append(monotonic() - begun)
        self.edges[port] = self.opened.enter_context(an_edge(self.cloud, port))


@contextmanager
def two_edges(cloud: Cloud) -> Iterator[Deploy]:
    ports = (free_port(), free_port())
    with ExitStack() as opened:
        edges = {port: opened.enter_context(an_edge(cloud, port)) for port in ports}
        yield Deploy(cloud, ports, edges, opened, [])


def measure(cloud: Cloud, watchers: int, config: Path) -> Row:
    """Both edges replaced, one after the other, under so many SSE clients."""
    with two_edges(cloud) as deploy, nginx(config, deploy.ports, IDLE) as port:
        run = Growing(cloud)
        crowd = [Watcher() for _ in range(watchers)]
        path = f"/v1/runs/{run.run_id}/stream"
        going = threading.Thread(target=lambda: run.grow(LENGTH, EVERY, threading.Event()))
        replacing = threading.Thread(target=_replace_both, args=(deploy, lambda: run.tail))
        going.start()
        replacing.start()
        asyncio.run(_follow(crowd, port, path, cloud.key))
        going.join()
        replacing.join()
    return _row("SSE", config.name, crowd, deploy.drained_in)


async def _follow(crowd: list[Watcher], port: int, path: str, key: str) -> None:
    await asyncio.gather(*(watcher.follow(port, path, key, RETRY) for watcher in crowd))


def _replace_both(deploy: Deploy, tail: Callable[[], int]) -> None:
    pause = threading.Event()
    for port, when in zip(deploy.ports, (FIRST, SECOND), strict=True):
        while tail() < when:
            pause.wait(0.05)
        deploy.replace(port)


def measure_sockets(watchers: int) -> Row:
    """The local cloud killed and started again with its data, under so many WebSocket clients.

    API Gateway's sockets outlive a deploy; what can be tried here is that they do not.
    """
    build()  # before anybody waits for the cloud to answer
    with (
        TemporaryDirectory() as folder,
        a_slow_speaker(WORDS, PAUSE) as url,
        Laptop(Path(folder), url, speed=SPEED) as laptop,
        nginx(SAMPLES / "nginx.conf", [laptop.port], IDLE) as port,
    ):
        headers = {"Authorization": f"Bearer {laptop.key}"}
        with httpx.Client(base_url=laptop.url, headers=headers, timeout=30, trust_env=False) as client:
            run_id = client.post("/v1/runs", json={"agent": "chat", "text": "go"}).raise_for_status().json()["run_id"]
            path = f"/v1/runs/{run_id}/events"
            await_true(lambda: len(client.get(path).json()["events"]) >= JOINED, seconds=60)
            crowd = [SocketWatcher() for _ in range(watchers)]
            replacing = threading.Thread(target=_kill_and_start, args=(laptop, crowd))
            replacing.start()
            asyncio.run(_subscribe(crowd, port, laptop.url, headers, run_id))
            replacing.join()
            told = client.get(path, params={"limit": 1000, "replay": "full"}).json()
    return _row("WebSocket", "nginx.conf, the local cloud killed", list(crowd), [], len(told["events"]))


async def _subscribe(crowd: list[SocketWatcher], port: int, url: str, headers: Mapping[str, str], run_id: str) -> None:
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30, trust_env=False) as client:
        await asyncio.gather(*(watcher.subscribe(client, port, run_id, RETRY) for watcher in crowd))


def _kill_and_start(laptop: Laptop, crowd: list[SocketWatcher]) -> None:
    """Once every client has so many events."""
    pause = threading.Event()
    while min(len(watcher.seqs) for watcher in crowd) < KILLED:
        pause.wait(0.05)
    laptop.kill()
    laptop.start()


def _row(form: str, through: str, crowd: list[Watcher], drained_in: list[float], length: int = LENGTH) -> Row:
    seen = [judged(watcher.seqs, length) for watcher in crowd]
    silences = sorted(watcher.silence for watcher in crowd)
    return Row(
        form,
        through,
        len(crowd),
        length,
        sum(each.missing for each in seen),
        sum(watcher.dropped for watcher in crowd),
        sum(each.doubled for each in seen),
        sum(not each.in_order for each in seen),
        max(watcher.connections for watcher in crowd),
        sum(watcher.refused for watcher in crowd),
        silences[len(silences) // 2],
        silences[-1],
        drained_in,
    )


def main() -> int:
    """Print the table; 1 if a client missed an event or got one twice."""
    parser = printed.arguments("bench.rolling_deploy", __doc__)
    parser.add_argument("--watchers", type=int, default=WATCHERS)
    parser.add_argument("--sockets", type=int, default=SOCKETS)
    asked = parser.parse_args()
    with a_cloud() as cloud:
        rows = [measure(cloud, asked.watchers, config) for config in CONFIGS]
    rows.append(measure_sockets(asked.sockets))
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)
    return 0 if all(row.missing == row.doubled == row.out_of_order == 0 for row in rows) else 1


def _cells(row: Row) -> Mapping[str, object]:
    return {
        "clients": f"{row.clients} {row.form}",
        "through": row.through,
        "events": row.events,
        "missing": row.missing,
        "came again, dropped": row.dropped,
        "doubled": row.doubled,
        "out of order": row.out_of_order,
        "connections, at most": row.connections_most,
        "refused": row.refused,
        "longest silence, median": f"{row.silence_median:.1f} s",
        "at most": f"{row.silence_longest:.1f} s",
        "drained in": " and ".join(f"{each:.1f} s" for each in row.drained_in),
    }


if __name__ == "__main__":
    sys.exit(main())
