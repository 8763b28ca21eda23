"""`python -m infra.local`, as a newcomer starts it and a crash ends it: real package, real sockets, real signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from infra.build import build
from infra.local.gateway import listen
from infra.local.journal import Journal

ROOT = Path(__file__).parents[3]


@contextmanager
def started(directory: Path, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "infra.local", *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def banner(process: subprocess.Popen[str]) -> str:
    """All that it says until it has said what to try."""
    said = ""
    assert process.stdout is not None
    for line in process.stdout:
        said += line
        if "curl" in line:
            return said
    raise AssertionError(said)


@contextmanager
def client(directory: Path, port: int) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {(directory / '.pawl' / 'key').read_text().strip()}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client:
        yield client


def a_free_port() -> int:
    with listen(0) as listener:
        port: int = listener.getsockname()[1]
        return port


def submit(client: httpx.Client) -> str:
    answer = client.post("/v1/runs", json={"agent": "demo", "text": "Analyse market data"})
    assert answer.status_code == 202
    run_id: str = answer.json()["run_id"]
    return run_id


def first_token(client: httpx.Client, run_id: str) -> dict[str, Any]:
    """The run's events as soon as there is text among them."""
    since = -1
    while True:
        page: dict[str, Any] = client.get(f"/v1/runs/{run_id}/events", params={"since": since, "wait": 20}).json()
        since = page["next_since"]
        if any(event["type"] == "text.delta" for event in page["events"]):
            return page


def test_it_serves_runs_to_whoever_has_the_key_and_stops_when_told(tmp_path: Path) -> None:
    build()
    port = a_free_port()
    with started(tmp_path, "--port", str(port)) as process:
        assert f"http://127.0.0.1:{port}" in banner(process)
        key = tmp_path / ".pawl" / "key"
        assert key.stat().st_mode & 0o777 == 0o600
        with client(tmp_path, port) as api:
            agents = [agent["name"] for agent in api.get("/v1/agents").json()["agents"]]
            assert agents == ["demo", "demo-analyst", "demo-assistant", "demo-researcher"]
            first_token(api, submit(api))
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_runs_and_the_key_outlive_a_kill(tmp_path: Path) -> None:
    build()
    port = a_free_port()
    arguments = ("--port", str(port), "--data", "data", "--quiet")
    with started(tmp_path, *arguments) as process:
        banner(process)
        with client(tmp_path, port) as api:
            run_id = submit(api)
            first_token(api, run_id)
            process.kill()
    secret = (tmp_path / ".pawl" / "key").read_text()
    with started(tmp_path, *arguments) as process:
        banner(process)
        assert (tmp_path / ".pawl" / "key").read_text() == secret
        with client(tmp_path, port) as api:
            events = api.get(f"/v1/runs/{run_id}/events").json()["events"]
            assert [event["seq"] for event in events] == list(range(len(events)))
            assert any(event["type"] == "text.delta" for event in events)
            assert api.post(f"/v1/runs/{run_id}/cancel").status_code == 202


def test_ctrl_c_in_the_middle_of_a_run_ends_it_without_another_word(tmp_path: Path) -> None:
    build()
    port = a_free_port()
    with started(tmp_path, "--port", str(port), "--quiet") as process:
        banner(process)
        with client(tmp_path, port) as api:
            first_token(api, submit(api))
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            said = process.stdout.read()
            assert (process.wait(20), said) == (0, "\nStopping.\n")


def test_a_second_local_cloud_on_the_same_data_is_refused_in_one_sentence(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "data")
    try:
        with started(tmp_path, "--port", "0", "--data", "data") as process:
            said, _ = process.communicate(timeout=60)
    finally:
        journal.close()
    assert (process.returncode, said) == (1, "Another local cloud keeps its data in data.\n")


def test_a_taken_port_is_said_in_one_sentence(tmp_path: Path) -> None:
    with listen(0) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with started(tmp_path, PORT=str(port)) as process:
            said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said == f"Port {port} is taken. Stop what listens there, or choose another: --port N or PORT=N.\n"


def test_a_setting_that_cannot_be_meant_is_said_in_one_sentence(tmp_path: Path) -> None:
    with started(tmp_path, "--port", "0", STEPS_PER_SLICE="two") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said == "STEPS_PER_SLICE must be a whole number, 0 or more, and is 'two'.\n"
