"""What a client that stops reading costs a server, and those beside it: `python -m bench.slow_clients`.

A thousand clients open a stream and read no more of it, while the run writes 10 MB in events of 25 KB, then 40 MB.
Measured on the server's resident memory: the edge, where such a client holds a cursor, and a server with a queue for
each client (with fewer clients: it holds the whole log for each of them). Beside them, one client reads all of it; how
late its events come is compared with the same when nobody is slow.
"""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import monotonic

import httpx
from httpx_sse import connect_sse

from bench import printed
from bench.cloud import ROOT
from tests.builders import RUN_ID
from tests.edge.serving import KEY

CLIENTS, QUEUED_CLIENTS = 1000, 50
SIZE, EVENTS, EVERY = 25_000, 400, 0.04
"""Bytes of an event, events in 10 MB, and seconds between two of them."""

WARM_UP = 100
"""Events before anything is measured, so that what a server keeps for all is there."""

KB, MB = 1024, 1_000_000
PATH = f"/v1/runs/{RUN_ID}/stream"


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes for each client that does not read, of the process and of the kernel's sockets, which are this machine's;
    and how late, in seconds, events came to the one that reads."""

    design: str
    clients: int
    written: int
    memory: float | None
    kernel: float | None
    late_median: float
    late_most: float


class Server:
    """The server's process, its port, and the time at which each event was written."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self._process = process
        self._stdin = process.stdin
        self.port = int(process.stdout.readline())
        self.written: dict[int, float] = {}

    @property
    def memory(self) -> int:
        """Resident bytes."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        [line] = [each for each in lines if each.startswith("VmRSS")]
        return int(line.split()[1]) * 1024

    def write(self, events: int, every: float) -> None:
        """So many events, at that pace."""
        pause, begun = threading.Event(), monotonic()
        for number in range(events):
            pause.wait(max(begun + number * every - monotonic(), 0))
            self.written[len(self.written) + 1] = monotonic()
            self._stdin.write("\n")
            self._stdin.flush()


@contextmanager
def a_server(design: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "bench.slow_server", design, str(SIZE)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


class Reader:
    """A client that reads all there is, in a thread of its own, and notes when each event came."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}{PATH}"
        self.came: dict[int, float] = {}
        self._until = 0
        self._there = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def await_event(self, seq: int, seconds: float) -> None:
        """Raises TimeoutError if it does not come in time."""
        with self._there:
            if not self._there.wait_for(lambda: seq in self.came, timeout=seconds):
                raise TimeoutError(f"event {seq} did not come within {seconds} s")

    def _read(self) -> None:
        with (
            suppress(httpx.RemoteProtocolError),  # the server is killed in the end
            httpx.Client(headers={"Authorization": KEY}, timeout=60, trust_env=False) as client,
            connect_sse(client, "GET", self._url) as source,
        ):
            for event in source.iter_sse():
                with self._there:
                    self.came[json.loads(event.data)["seq"]] = monotonic()
                    self._there.notify_all()


def measure(design: str, clients: int, events: int, every: float = EVERY) -> Row:
    """So many clients that do not read while so many events are written."""
    with a_server(design) as server, ExitStack() as lines:
        reader = Reader(server.port)
        with a_slow_client(server.port):  # a server that publishes must have been asked once
            server.write(WARM_UP, every)
            reader.await_event(WARM_UP, seconds=60)
        before, kernel_before = server.memory, sockets_memory()
        for _ in range(clients):
            lines.enter_context(a_slow_client(server.port, since=WARM_UP))
        server.write(events, every)
        reader.await_event(WARM_UP + events, seconds=300)
        memory, kernel = server.memory - before, sockets_memory() - kernel_before
        late = [reader.came[seq] - at for seq, at in server.written.items() if seq > WARM_UP]
    for_each, of_the_kernel = (taken / clients if clients else None for taken in (memory, kernel))
    return Row(design, clients, events * SIZE, for_each, of_the_kernel, median(late), max(late))


def sockets_memory() -> int:
    """Bytes that the kernel keeps for TCP sockets."""
    [line] = [each for each in Path("/proc/net/sockstat").read_text().splitlines() if each.startswith("TCP:")]
    return int(line.split()[-1]) * resource.getpagesize()


@contextmanager
def a_slow_client(port: int, since: int = -1) -> Iterator[None]:
    """It reads the first line of its answer, and then nothing."""
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", port))
        asked = f"GET {PATH}?since={since} HTTP/1.1\r\nHost: pawl\r\nAuthorization: {KEY}\r\n\r\n"
        line.sendall(asked.encode())
        assert line.recv(15) == b"HTTP/1.1 200 OK"
        yield


def main() -> None:
    """Print the table."""
    parser = printed.arguments("bench.slow_clients", __doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--queued-clients", type=int, default=QUEUED_CLIENTS)
    asked = parser.parse_args()
    plan = [("cursor", 0), ("cursor", asked.clients), ("queue", asked.queued_clients)]
    rows = [measure(design, clients, events) for design, clients in plan for events in (EVENTS, 4 * EVENTS)]
    printed.table([_cells(row) for row in rows], [asdict(row) for row in rows], asked.json)


def _cells(row: Row) -> Mapping[str, object]:
    return {
        "server": {"cursor": "the edge", "queue": "a queue for each client"}[row.design],
        "clients that do not read": row.clients,
        "written": f"{row.written / MB:.0f} MB",
        "memory for each": _kilobytes(row.memory),
        "of the kernel": _kilobytes(row.kernel),
        "one that reads: an event comes after": f"{1000 * row.late_median:,.0f} ms",
        "at the latest": f"{1000 * row.late_most:,.0f} ms",
    }


def _kilobytes(value: float | None) -> str:
    return "" if value is None else f"{value / KB:,.0f} KB"


if __name__ == "__main__":
    main()
