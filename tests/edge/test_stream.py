"""Streams over real sockets: uvicorn serves, clients with parsers of their own read."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Iterator
from random import Random
from urllib.parse import urlsplit

import httpx
import pytest
from httpx_sse import EventSource, connect_sse

from chalicelib.core import sse
from chalicelib.edge import server as edge_server
from chalicelib.edge.server import EdgeServer
from tests.builders import RUN_ID, run_id
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import KEY, a_world, serving

DROPS = 50
PATH = f"/v1/runs/{RUN_ID}/stream"
AUTH = {"Authorization": KEY}


class Place:
    """A served log."""

    def __init__(self, log: MemoryLog, url: str, server: EdgeServer) -> None:
        self.log, self.url, self.server = log, url, server
        self.client = httpx.Client(base_url=url, headers=AUTH, timeout=10, trust_env=False)

    def stream(self, since: int | None = None) -> Generator[int, None, None]:
        headers = {} if since is None else {"Last-Event-ID": str(since)}
        with connect_sse(self.client, "GET", PATH, headers=headers) as source:
            for event in source.iter_sse():
                assert event.json()["seq"] == int(event.id)
                yield int(event.id)


@pytest.fixture
def place() -> Iterator[Place]:
    log = MemoryLog(3)
    with serving(a_world(log)) as (url, server):
        made = Place(log, url, server)
        yield made
        made.client.close()


def test_a_stream_follows_the_log_to_its_end(place: Place) -> None:
    seen = []
    for seq in place.stream():
        seen.append(seq)
        if seq == 2:
            place.log.grow(2)
        if seq == 4:
            place.log.end()

    assert seen == [0, 1, 2, 3, 4, 5]


def test_both_urls_stream_the_same_frames(place: Place) -> None:
    place.log.end()
    accept = {"Accept": "text/event-stream"}

    events = place.client.get(f"/v1/runs/{RUN_ID}/events", headers=accept)
    stream = place.client.get(PATH)

    assert events.text == stream.text
    assert stream.text.startswith("retry: 1000\nevent: text.delta\n")
    for answer in (events, stream):
        assert {name: answer.headers[name] for name in sse.HEADERS} == sse.HEADERS
        assert answer.headers["X-Request-Id"]


def test_what_was_received_counts_more_than_what_the_url_says(place: Place) -> None:
    place.log.end()

    answer = place.client.get(f"{PATH}?since=0", headers={"Last-Event-ID": "1"})
    by_url = place.client.get(f"{PATH}?since=1")

    assert [line for line in answer.text.splitlines() if line.startswith("id")] == ["id: 2", "id: 3"]
    assert by_url.text == answer.text


def test_after_the_end_nothing_is_sent_ever(place: Place) -> None:
    place.log.end()

    answer = place.client.get(PATH, headers={"Last-Event-ID": "3"})

    assert (answer.status_code, answer.content) == (204, b"")


SSE = {"Accept": "text/event-stream"}


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        (PATH, {"Authorization": ""}, 401, "unauthenticated"),
        (PATH, {"Authorization": "Bearer pawl_nobody"}, 401, "unauthenticated"),
        (PATH, {"Authorization": "Bearer pawl_blind"}, 403, "scope_missing"),
        (PATH, {"Authorization": "Bearer pawl_globex"}, 404, "run_not_found"),
        (f"/v1/runs/{run_id(2)}/stream", {}, 404, "run_not_found"),
        ("/v1/runs/x/stream", {}, 400, "invalid_run_id"),
        (f"{PATH}?since=x", {}, 400, "since_not_a_number"),
        (f"{PATH}?since=3", {}, 400, "since_ahead_of_log"),
        (PATH, {"Last-Event-ID": "-2"}, 400, "since_too_low"),
        (f"{PATH}?sinse=1", {}, 400, "unknown_field"),
        (f"{PATH}?limit=5", {}, 400, "unknown_field"),
        (f"{PATH}?replay=some", {}, 400, "invalid_replay"),
        (f"/v1/runs/{RUN_ID}/events?sinse=1", SSE, 400, "unknown_field"),
        (f"/v1/runs/{RUN_ID}/events?limit=all", SSE, 400, "limit_out_of_range"),
        (f"/v1/runs/{RUN_ID}/events?wait=21", SSE, 400, "wait_out_of_range"),
        ("/healthz?deep=1", {}, 400, "unknown_field"),
        (f"/v1/runs/{RUN_ID}/events", {}, 404, "not_found"),
        ("/v1/runs", {}, 404, "not_found"),
        (f"{PATH}/", {}, 404, "not_found"),
    ],
)
def test_what_the_client_must_mend_is_a_problem(
    path: str, headers: dict[str, str], status: int, code: str, place: Place
) -> None:
    with place.client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == status  # before it is read: a stream in its place would not end
        answer.read()

    assert answer.json()["code"] == code
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]


def test_transient_trouble_is_a_stream_too(place: Place) -> None:
    place.log.down = True

    answer = place.client.get(PATH)

    assert (answer.status_code, answer.text) == (200, sse.trouble())
    assert answer.headers["Content-Type"] == sse.MEDIA_TYPE


def test_the_edge_says_that_it_is_there(place: Place) -> None:
    assert httpx.get(f"{place.url}/healthz", trust_env=False).json() == {"status": "ok"}


def test_a_follower_whose_line_breaks_fifty_times_misses_nothing_and_sees_nothing_twice(place: Place) -> None:
    random = Random(4)
    seen: list[int] = []
    for _ in range(DROPS):
        grown = random.randrange(2, 6)
        place.log.grow(grown)
        stream = place.stream(seen[-1] if seen else None)
        seen += [next(stream) for _ in range(random.randrange(1, grown + 1))]
        stream.close()
    place.log.end()
    seen += place.stream(seen[-1])

    assert seen == [*range(len(seen))]
    assert len(seen) > 2 * DROPS


def test_a_line_cut_at_any_byte_costs_no_event(place: Place) -> None:
    place.log.grow(200)
    place.log.end()
    random = Random(4)
    seen: list[int] = []
    for _ in range(DROPS):
        seen += cut_off(place.url, seen[-1] if seen else -1, random.randrange(300, 1500))
    seen += place.stream(seen[-1]) if seen[-1] < 203 else []

    assert seen == [*range(204)]


def cut_off(url: str, since: int, size: int) -> list[int]:
    """What a client had of its stream when its line broke after so many bytes."""
    address = urlsplit(url)
    with socket.create_connection((str(address.hostname), int(address.port or 80)), timeout=10) as line:
        line.sendall(f"GET {PATH}?since={since} HTTP/1.0\r\nAuthorization: {KEY}\r\n\r\n".encode())
        got = b""
        while len(got) < size and (piece := line.recv(size - len(got))):
            got += piece
    body = got.partition(b"\r\n\r\n")[2]
    whole = httpx.Response(200, headers={"Content-Type": sse.MEDIA_TYPE}, content=body)
    return [int(event.id) for event in EventSource(whole).iter_sse()]


def test_a_server_that_is_told_to_go_ends_its_streams_cleanly(place: Place) -> None:
    stream = place.stream()
    seen = [next(stream) for _ in range(3)]

    place.server.handle_exit(15, None)

    assert list(stream) == []  # no broken line: the answer came to its end
    with serving(a_world(place.log)) as (url, server):
        elsewhere = Place(place.log, url, server)
        place.log.end()
        seen += elsewhere.stream(seen[-1])
        elsewhere.client.close()
    assert seen == [0, 1, 2, 3]


def test_many_who_watch_get_all_of_it_and_cost_few_reads(place: Place) -> None:
    watchers, seen = 40, []
    opened = threading.Barrier(watchers + 1)

    def follow() -> None:
        with (
            Place(place.log, place.url, place.server).client as client,
            connect_sse(client, "GET", f"{PATH}?since=2") as source,
        ):
            opened.wait(30)
            got = [int(event.id) for event in source.iter_sse()]
        seen.append(got)

    threads = [threading.Thread(target=follow) for _ in range(watchers)]
    for thread in threads:
        thread.start()
    opened.wait(30)
    before = place.log.reads
    place.log.grow(20)
    place.log.end()
    for thread in threads:
        thread.join(30)

    assert seen == [[*range(3, 24)]] * watchers
    assert place.log.reads - before < watchers / 2


def test_a_connection_holds_little_for_a_client_that_does_not_read() -> None:
    assert edge_server.HIGH_WATER <= 2048
    assert edge_server.KERNEL_BUFFER <= 65536
