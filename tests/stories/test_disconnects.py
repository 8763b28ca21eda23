"""A client whose line breaks again and again while the log grows. A thousand times it does in tests/clients."""

from __future__ import annotations

import json
import socket
import time
from random import Random
from typing import Any
from urllib.parse import urlsplit

from tests.stories.conftest import OpenTown, Town

DISCONNECTS = 200
SEED = time.time_ns() % 100_000


def test_two_hundred_broken_polls_miss_nothing_and_see_nothing_twice(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("long")
    random = Random(SEED)
    seen: list[dict[str, Any]] = []
    broken = 0
    done = False
    while not done or broken < DISCONNECTS:
        cut = random.randrange(600) if random.random() < 0.9 else None
        page = poll(place, run_id, seen[-1]["seq"] if seen else -1, limit=random.randint(1, 20), cut=cut)
        if page is None:
            broken += 1
            continue
        seen += page["events"]
        done = page["done"] and page["next_since"] == seen[-1]["seq"]
        if done and broken < DISCONNECTS:
            # The log has ended before the line broke often enough: once more from the start.
            assert_whole(seen)
            seen, done = [], False
    assert_whole(seen)
    print(f"{broken} disconnects, 0 missing, 0 doubled (seed {SEED})")


def assert_whole(seen: list[dict[str, Any]]) -> None:
    assert [event["seq"] for event in seen] == [*range(len(seen))], f"seed {SEED}"
    assert seen[-1]["type"] == "run.done"
    deltas = "".join(event["data"]["text"] for event in seen if event["type"] == "text.delta")
    assert deltas == "considerable " * 3000


def poll(place: Town, run_id: str, since: int, *, limit: int, cut: int | None) -> dict[str, Any] | None:
    """One poll on a line of its own, which breaks after `cut` bytes of the answer; None for an answer that is cut."""
    url = urlsplit(place.cloud.url)
    with socket.create_connection((str(url.hostname), int(url.port or 80)), timeout=30) as line:
        line.sendall(
            f"GET /v1/runs/{run_id}/events?since={since}&limit={limit}&wait=5 HTTP/1.1\r\nHost: pawl\r\n"
            f"Authorization: Bearer {place.key}\r\nConnection: close\r\n\r\n".encode()
        )
        got = b""
        while cut is None or len(got) < cut:
            piece = line.recv(65536 if cut is None else cut - len(got))
            if not piece:
                return _body(got)
            got += piece
    return None


def _body(answer: bytes) -> dict[str, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), answer[:300]
    found: dict[str, Any] = json.loads(body)
    return found
