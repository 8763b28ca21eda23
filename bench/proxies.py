"""What proxies on the way do to a stream, and what the sample configurations do about it: `python -m bench.proxies`.

nginx and Varnish stand in front of an edge whose log grows by an event every 200 ms. For each configuration: when the
first event comes, how late the others do, whether a second reader gets the log from its own cursor, and when a silent
stream is cut off, without heartbeats and with them. The idle timeout is set to four seconds, and the heartbeat to one,
for the 60 and the 10 that they are.

Needs nginx and Varnish: `apt-get install nginx-light varnish`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import monotonic

import httpx
from httpx_sse import SSEError, connect_sse

from bench import printed
from bench.fronts import NAIVE, SAMPLES, nginx, varnish
from bench.paces import FastPace, Heartless
from chalicelib.edge.pace import Pace
from tests.builders import RUN_ID
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import KEY, a_world, serving

IDLE, SPEED, WATCHED = 4.0, 10.0, 12.0
"""Seconds of the idle timeout; how much faster the heartbeat comes; seconds for which a silent stream is watched."""

EVENTS, EVERY = 30, 0.2
PATH = f"/v1/runs/{RUN_ID}/stream"

Front = Callable[[int], AbstractContextManager[int]]
"""What stands in front of the edge at a port: the port to ask instead."""


@contextmanager
def nothing(port: int) -> Iterator[int]:
    yield port


def nginx_with(config: Path) -> Front:
    return lambda port: nginx(config, [port], IDLE)


@contextmanager
def two_nginx(port: int) -> Iterator[int]:
    """One as it comes, and behind it one that buffers."""
    with nginx_with(NAIVE / "buffering.conf")(port) as inner, nginx_with(NAIVE / "plain.conf")(inner) as outer:
        yield outer


def varnish_with(config: Path) -> Front:
    return lambda port: varnish(config, port, IDLE)


FRONTS: Mapping[str, Front] = {
    "nothing": nothing,
    "nginx, proxy_pass alone": nginx_with(NAIVE / "plain.conf"),
    "nginx, buffering whatever the edge says": nginx_with(NAIVE / "buffering.conf"),
    "nginx, and that one behind it": two_nginx,
    "nginx, gzip for everything": nginx_with(NAIVE / "gzip.conf"),
    "nginx, docs/proxies/nginx.conf": nginx_with(SAMPLES / "nginx.conf"),
    "Varnish, as it comes": varnish_with(NAIVE / "plain.vcl"),
    "Varnish, gzip for everything": varnish_with(NAIVE / "gzip.vcl"),
    "Varnish, caching and gzip for everything": varnish_with(NAIVE / "cache_everything.vcl"),
    "Varnish, docs/proxies/varnish.vcl": varnish_with(SAMPLES / "varnish.vcl"),
}


@dataclass(frozen=True, slots=True)
class Live:
    """Seconds to the first event, and from each append to its event; and when the stream was cut off, if it was."""

    first: float | None
    lags: list[float]
    cut: float | None
    cursor_kept: bool
    """Whether a later reader was given the log from its own cursor on."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one configuration does; of a silent stream, the seconds after which it is cut off, None if it is not."""

    front: str
    live: Live
    cut_without_heartbeats: float | None
    cut_with_heartbeats: float | None


def measure(front: str) -> Row:
    """All that is measured of one configuration."""
    open_front = FRONTS[front]
    with ThreadPoolExecutor(3) as hands:
        live = hands.submit(_live, open_front)
        silent = [hands.submit(_cut_off, open_front, pace) for pace in (Heartless(), FastPace(SPEED))]
        return Row(front, live.result(), *(each.result() for each in silent))


def _live(front: Front) -> Live:
    log = MemoryLog(1)
    grown: dict[int, float] = {}
    with serving(a_world(log)) as (url, _), front(int(url.rpartition(":")[2])) as port, _client(port) as client:
        growing = threading.Thread(target=_grow, args=(log, grown))
        growing.start()
        begun = monotonic()
        came, cut = _received(client)
        growing.join()
        kept = _first_after(client, 10) == 11
    first = min(came.values()) - begun if came else None
    return Live(first, [came[seq] - at for seq, at in grown.items() if seq in came], cut and cut - begun, kept)


def _received(client: httpx.Client) -> tuple[dict[int, float], float | None]:
    """When each event came, and when the stream was cut off."""
    came: dict[int, float] = {}
    try:
        with connect_sse(client, "GET", PATH) as source:
            for event in source.iter_sse():
                came[int(event.id)] = monotonic()
    except (httpx.RemoteProtocolError, SSEError):  # no proper end, or a 504 in the place of a stream
        return came, monotonic()
    return came, None


def _first_after(client: httpx.Client, cursor: int) -> int:
    with connect_sse(client, "GET", PATH, headers={"Last-Event-ID": str(cursor)}) as source:
        return int(next(source.iter_sse()).id)


def _grow(log: MemoryLog, grown: dict[int, float]) -> None:
    pause = threading.Event()
    for seq in range(1, EVENTS + 1):
        pause.wait(EVERY)
        grown[seq] = monotonic()
        log.grow()
    log.end()


def _cut_off(front: Front, pace: Pace) -> float | None:
    """Seconds until a stream in which nothing happens is cut off; None if it is not, as long as it is watched."""
    with (
        serving(a_world(MemoryLog(1)), pace) as (url, _),
        front(int(url.rpartition(":")[2])) as port,
        _client(port) as client,
    ):
        begun = monotonic()
        try:
            with client.stream("GET", PATH) as answer:
                for _ in answer.iter_raw():
                    if monotonic() - begun > WATCHED:
                        return None
        except httpx.ReadTimeout:
            return None
        except httpx.RemoteProtocolError:
            pass  # an answer that is cut off has no proper end
        return monotonic() - begun


def _client(port: int) -> httpx.Client:
    headers = {"Authorization": KEY, "Accept-Encoding": "gzip"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=WATCHED, trust_env=False)


def main() -> None:
    """Print the table."""
    asked = printed.arguments("bench.proxies", __doc__).parse_args()
    rows = [measure(front) for front in FRONTS]
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)


def _cells(row: Row) -> Mapping[str, object]:
    lags = [1000 * lag for lag in row.live.lags]
    whole = row.live.cut is None and len(lags) == EVENTS
    return {
        "in front of the edge": row.front,
        "first event": "never" if row.live.first is None else f"{1000 * row.live.first:,.0f} ms",
        "an event comes after": f"{median(lags):,.0f} ms" if lags else "never",
        "at the latest": f"{max(lags):,.0f} ms" if whole else f"**cut off after {_seconds(row.live.cut)}**",
        "reconnect at its cursor": "yes" if row.live.cursor_kept else "**no**",
        "silent, cut off after": _seconds(row.cut_without_heartbeats),
        "with heartbeats": _seconds(row.cut_with_heartbeats),
    }


def _seconds(value: float | None) -> str:
    return "not cut off" if value is None else f"{value:.1f} s"


if __name__ == "__main__":
    main()
