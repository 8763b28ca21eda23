"""Approved hosts, from inside the sandbox: what gets out, what does not, and that there is no other way."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chalicelib.adapters.net.egress_proxy import EgressProxy
from chalicelib.adapters.sandbox.bubblewrap import Bubblewrap
from chalicelib.adapters.sandbox.proving import ProvenSandbox
from chalicelib.core.code import CodeResult
from chalicelib.core.egress import EgressPolicy, HostPattern, one_of
from chalicelib.core.errors import SandboxUnavailable
from tests.sandbox.jobs import CLOCK, a_job, sandbox

PUBLIC, METADATA = "93.184.215.14", "169.254.169.254"
HOSTS = ("approved.example", "*.wild.example", "private.example", "mapped.example", "mixed.example", "nowhere.example")
NAMES: dict[str, Sequence[str]] = {
    "approved.example": [PUBLIC],
    "api.wild.example": [PUBLIC],
    "private.example": ["10.0.0.1"],
    "mapped.example": [f"::ffff:{METADATA}"],
    "mixed.example": [PUBLIC, "192.168.0.1"],
}

ASK = """
import os, socket, sys
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
for asked in ASKED:
    with socket.create_connection((host, int(port))) as one:
        one.sendall(f"CONNECT {asked} HTTP/1.1\\r\\n\\r\\n".encode())
        said = one.makefile("rb").readline().split()
        status = said[1].decode() if said else "-"
        print(asked, status)
"""

GOOD = ("approved.example:443", "approved.example.:443", "APPROVED.example:80", "api.wild.example:443")
BAD = (
    "unlisted.example:443",
    f"{PUBLIC}:443",
    "0x7f000001:443",
    "[::1]:443",
    "localhost:443",
    "approved.example:22",
    "approved.example@127.0.0.1:443",
    "approved.example.evil.example:443",
    "wild.example:443",
    "private.example:443",
    "mapped.example:443",
    "mixed.example:443",
)


class Echo(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        while piece := self.request.recv(65_536):
            self.request.sendall(piece.upper())


class Outside:
    """The internet: public addresses lead to a server of this machine."""

    def __init__(self) -> None:
        self.dialled: list[tuple[str, int]] = []
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def resolve(self, host: str, port: int, seconds: float) -> Sequence[str]:
        if host not in NAMES:
            raise socket.gaierror(f"{host} is not known")
        return NAMES[host]

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        self.dialled.append((address, port))
        return socket.create_connection(self.server.server_address[:2], seconds)  # type: ignore[arg-type]

    def run(self, code: str, hosts: tuple[str, ...] = HOSTS) -> CodeResult:
        walls = [Bubblewrap(resolve=self.resolve, dial=self.dial)]
        return ProvenSandbox(walls, CLOCK).run(a_job(code, hosts=hosts))


@pytest.fixture
def outside() -> Iterator[Outside]:
    made = Outside()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_approved_hosts_are_reached_and_no_others(outside: Outside) -> None:
    result = outside.run(f"ASKED = {(*GOOD, *BAD, 'nowhere.example:443')!r}\n{ASK}")

    assert result.exit == 0, result.stderr
    told = dict(line.split() for line in result.stdout.splitlines())
    assert {asked: told[asked] for asked in GOOD} == dict.fromkeys(GOOD, "200")
    assert {asked: told[asked] for asked in BAD} == dict.fromkeys(BAD, "403")
    assert told["nowhere.example:443"] == "502"
    assert outside.dialled == [(PUBLIC, 443), (PUBLIC, 443), (PUBLIC, 80), (PUBLIC, 443)]


def test_what_goes_through_goes_both_ways(outside: Outside) -> None:
    code = """
import http.client, os
host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
line = http.client.HTTPConnection(host, int(port))
line.set_tunnel("approved.example", 443)
line.connect()
line.sock.sendall(b"x" * 200_000)
got = b""
while len(got) < 200_000:
    got += line.sock.recv(65536)
print(len(got), set(got.decode()))
"""
    result = outside.run(code)

    assert result.stdout == "200000 {'X'}\n", result.stderr


def test_there_is_no_way_around_the_proxy(outside: Outside) -> None:
    code = f"""
import os, socket
for attempt in (
    lambda: socket.create_connection(("{PUBLIC}", 443), 2),
    lambda: socket.create_connection(("127.0.0.1", {outside.server.server_address[1]}), 2),
    lambda: socket.getaddrinfo("approved.example", 443),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    lambda: socket.socket(socket.AF_INET6),
    lambda: socket.socket(16, socket.SOCK_RAW),
    lambda: os.fork(),
):
    try:
        attempt()
        print("GOT")
    except OSError as fault:
        print("HELD")
"""
    assert outside.run(code).stdout == "HELD\n" * 7
    assert outside.dialled == []


def test_without_approved_hosts_there_is_no_proxy(outside: Outside) -> None:
    code = "import os\nprint('HTTPS_PROXY' in os.environ, os.path.exists('/program/egress.sock'))"

    assert outside.run(code, hosts=()).stdout == "False False\n"


@pytest.mark.parametrize("host", ["10.0.0.1", "com", "*.", "approved.example:0", "a b"])
def test_a_host_that_cannot_be_approved_runs_nothing(host: str, outside: Outside) -> None:
    with pytest.raises(SandboxUnavailable):
        outside.run("", hosts=(host,))


def test_behind_landlock_approved_hosts_are_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="bubblewrap can"):
        sandbox("landlock").run(a_job("", hosts=("approved.example",)))


@contextmanager
def a_proxy(outside: Outside, **limits: int) -> Iterator[str]:
    policy = EgressPolicy(one_of([HostPattern.parse(host) for host in HOSTS]))
    with TemporaryDirectory() as made:
        path = str(Path(made) / "proxy")
        with EgressProxy(path, policy, resolve=outside.resolve, dial=outside.dial, **limits):
            yield path


def asked(path: str, head: bytes) -> tuple[socket.socket, bytes]:
    one = socket.socket(socket.AF_UNIX)
    one.settimeout(5)
    one.connect(path)
    one.sendall(head)
    return one, one.recv(1000)


CONNECT = b"CONNECT approved.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET http://approved.example/ HTTP/1.1\r\n\r\n",
        b"CONNECT approved.example:443\r\n\r\n",
        b"CONNECT approved.example:443 HTTP/1.1\r\n\r\nmore",
        b"CONNECT " + b"x" * 400 + b":443 HTTP/1.1\r\n\r\n",
        b"\x00\r\n\r\n",
        b"x" * 9000,
    ],
)
def test_what_is_no_connect_is_refused(head: bytes, outside: Outside) -> None:
    with a_proxy(outside) as path:
        one, said = asked(path, head)
        with one:
            assert said.startswith(b"HTTP/1.1 403 ")
    assert outside.dialled == []


def test_a_run_has_so_many_connections_and_no_more(outside: Outside) -> None:
    with a_proxy(outside, connections=2) as path:
        lines = [asked(path, CONNECT) for _ in range(3)]
        for one, _ in lines:
            one.close()

    assert [said.split()[1] for _, said in lines] == [b"200", b"200", b"403"]


def test_a_run_has_so_much_traffic_and_no_more(outside: Outside) -> None:
    with a_proxy(outside, traffic=1000) as path:
        one, _ = asked(path, CONNECT)
        with one:
            one.sendall(b"x" * 400)
            assert one.recv(1000) == b"X" * 400
            one.sendall(b"x" * 400)
            assert one.recv(1000) == b""


def test_when_the_run_ends_its_connections_end(outside: Outside) -> None:
    with a_proxy(outside) as path:
        one, _ = asked(path, CONNECT)
    began = time.monotonic()

    with one:
        assert one.recv(1000) == b""
    assert time.monotonic() - began < 1
    assert not Path(path).exists()
