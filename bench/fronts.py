"""nginx and Varnish as processes of our own, on the loopback interface, with a configuration file that is also read."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cloud import ROOT, free_port
from tests.patience import await_true

SAMPLES, NAIVE = ROOT / "docs" / "proxies", ROOT / "bench" / "naive"
EDGE, LISTENS, IDLE = "127.0.0.1:8080", "127.0.0.1:8000", "60s"
"""How the configuration files name the edge, their own address and their idle timeout."""

_MAIN = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/server.conf;
}}
"""


class NoProxy(RuntimeError):  # noqa: N818 - named by what happened
    """A program is missing; the message says which package has it."""


@contextmanager
def nginx(config: Path, edges: Sequence[int], idle: float) -> Iterator[int]:
    """The port of an nginx with that `server` block, in front of edges at those ports; `idle` in seconds."""
    port = free_port()
    text = _with(config, {LISTENS: f"127.0.0.1:{port}", IDLE: f"{round(idle * 1000)}ms"})
    [server] = [line for line in text.splitlines() if EDGE in line]
    text = text.replace(server, "\n".join(server.replace(EDGE, f"127.0.0.1:{edge}") for edge in edges))
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        Path(folder, "server.conf").write_text(text)
        main = Path(folder, "nginx.conf")
        main.write_text(_MAIN.format(folder=folder))
        with _running([_program("nginx", "nginx-light"), "-p", folder, "-c", str(main)], port):
            yield port


@contextmanager
def varnish(config: Path, edge: int, idle: float) -> Iterator[int]:
    """The port of a Varnish with that VCL, in front of an edge; `idle` in seconds."""
    port = free_port()
    text = _with(config, {f'"{EDGE.rpartition(":")[2]}"': f'"{edge}"', IDLE: f"{idle}s"})
    with TemporaryDirectory() as folder:
        vcl = Path(folder, "edge.vcl")
        vcl.write_text(text)
        options = ["-F", "-j", "none", "-n", f"{folder}/work", "-s", "malloc,64m"]
        command = [_program("varnishd", "varnish"), *options, "-f", str(vcl), "-a", f"127.0.0.1:{port}"]
        with _running(command, port):
            yield port


def _with(config: Path, changes: Mapping[str, str]) -> str:
    """The file's text with the bench's own ports and timeout; each of them must stand in it."""
    text = config.read_text()
    for old, new in changes.items():
        assert old in text, f"{old} does not stand in {config}"
        text = text.replace(old, new)
    return text


def _program(name: str, package: str) -> str:
    found = shutil.which(name, path=f"{Path('/usr/sbin')}:{Path('/usr/local/sbin')}") or shutil.which(name)
    if found is None:
        raise NoProxy(f"there is no {name} here: apt-get install {package}")
    return found


@contextmanager
def _running(command: Sequence[str], port: int) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        await_true(lambda: _listens(process, port), seconds=30)
        yield
    finally:
        process.terminate()
        process.communicate()


def _listens(process: subprocess.Popen[str], port: int) -> bool:
    if process.poll() is not None:
        raise NoProxy(f"{process.args!r} ended: {process.communicate()[1]}")
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0
