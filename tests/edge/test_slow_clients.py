"""Clients that stop reading: what they cost the edge does not depend on how much there would be to read."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from httpx_sse import connect_sse

from tests.builders import RUN_ID
from tests.edge.serving import KEY

CLIENTS, SIZE = 200, 25_000
SMALL_LOG, LARGE_LOG = 100, 400
"""Events: 2.5 and 10 MB. A shelf holds 2 MB of either."""

MOST_EACH = 105 * 1024
"""Bytes a client: three frames of 25 KB at most. With asyncio's own high-water mark: 135 KB."""

ROOT = Path(__file__).parents[2]
PATH = f"/v1/runs/{RUN_ID}/stream"
ASKED = f"GET {PATH} HTTP/1.1\r\nHost: pawl\r\nAuthorization: {KEY}\r\n\r\n".encode()


@contextmanager
def an_edge(events: int) -> Iterator[tuple[int, int]]:
    """Its process and its port."""
    command = [sys.executable, "-m", "tests.edge.process", str(events), str(SIZE)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, int(process.stdout.readline())
        finally:
            process.kill()


def memory(process: int) -> int:
    [line] = [each for each in Path(f"/proc/{process}/status").read_text().splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def read_all(port: int, events: int) -> None:
    """A client that reads, beside whoever does not."""
    with (
        httpx.Client(headers={"Authorization": KEY}, timeout=30, trust_env=False) as client,
        connect_sse(client, "GET", f"http://127.0.0.1:{port}{PATH}") as source,
    ):
        seen = [int(event.id) for _, event in zip(range(events), source.iter_sse(), strict=False)]
    assert seen == [*range(events)]


def bytes_a_client(events: int) -> float:
    """What a client that does not read costs beside one that has read it all."""
    with an_edge(events) as (process, port), ExitStack() as lines:
        read_all(port, events)
        before = memory(process)
        for _ in range(CLIENTS):
            line = lines.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", port))
            line.sendall(ASKED)
            assert line.recv(15) == b"HTTP/1.1 200 OK"
        read_all(port, events)
        return (memory(process) - before) / CLIENTS


def test_a_client_that_does_not_read_costs_little_however_long_the_log_is() -> None:
    small, large = bytes_a_client(SMALL_LOG), bytes_a_client(LARGE_LOG)

    print(f"{small / 1024:.0f} and {large / 1024:.0f} KB a client")
    assert small < MOST_EACH
    assert large < MOST_EACH
    assert large < 1.2 * small + 8 * 1024
