"""Two hands on one run: a worker that was frozen past its lease, and wakes up while another one is streaming.

One is frozen while it waits for its model: it finds out by its renewal. The other is frozen while a write of its own is
on its way: it finds out by that write's answer, before it looks at anything else.
"""

from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.journal import read
from pawl_client import PawlClient
from tests.crash.laptop import Laptop, strike
from tests.crash.provider import TURNS, Provider, a_provider
from tests.crash.test_real_kills import check, findings, followed
from tests.patience import await_true

WAITING, WRITING = "be frozen while you wait", "be frozen while you write"
SLOWLY, BRISKLY = 2.0, 0.1
"""Seconds for a word: the calls of the frozen are far from their end when they wake up, their successors at work."""


@dataclass(frozen=True)
class Frozen:
    """A worker that was stopped, and the run that it believes to hold."""

    said: str
    run_id: str
    pid: int


def test_workers_that_were_frozen_past_their_lease_write_nothing_more(tmp_path: Path) -> None:
    with (
        a_provider(lambda said, made: BRISKLY if made else SLOWLY) as provider,
        Laptop(
            tmp_path, provider.url, "--lambdas", "process", speed=6, module="tests.crash.slow_table", quiet=False
        ) as laptop,
        PawlClient(laptop.url, laptop.key) as client,
    ):
        workers = [frozen(said, laptop, client) for said in (WAITING, WRITING)]
        with ThreadPoolExecutor(len(workers)) as hands:
            wake_ups = [hands.submit(wake_up_under_a_successor, each, laptop, client, provider) for each in workers]
        for each, wake_up in zip(workers, wake_ups, strict=True):
            wake_up.result()
            nothing_came_of_it(each, laptop, client, provider)
        assert findings(client) == []


def frozen(said: str, laptop: Laptop, client: PawlClient) -> Frozen:
    others = laptop.workers()
    run_id = client.submit(said, agent="chat")["run_id"]
    await_true(lambda: "text.delta" in types(client, run_id), seconds=30)
    (pid,) = set(laptop.workers()) - set(others)
    if said == WRITING:
        (laptop.folder / "slower").write_text(run_id)
        (laptop.folder / "slower").rename(laptop.folder / "slow")
        await_true((laptop.folder / "held").exists, seconds=30)
    strike(pid, signal.SIGSTOP)
    return Frozen(said, run_id, pid)


def wake_up_under_a_successor(worker: Frozen, laptop: Laptop, client: PawlClient, provider: Provider) -> None:
    await_true(lambda: "run.attempt" in types(client, worker.run_id), seconds=40)
    if worker.said == WRITING:
        (laptop.folder / "held").unlink()
        await_true((laptop.folder / "answered").exists, seconds=10)
    strike(worker.pid, signal.SIGCONT)
    await_true(provider.of(worker.said)[0].hung_up.is_set, seconds=10)
    assert client.run(worker.run_id)["status"] in {"running", "streaming"}, "nobody had the run when its worker woke up"


def nothing_came_of_it(worker: Frozen, laptop: Laptop, client: PawlClient, provider: Provider) -> None:
    seen = followed(client, worker.run_id)
    check(seen)
    takeover = next(event for event in seen if event["type"] == "run.attempt")
    assert takeover["data"]["reason"] == "lapsed"
    writers = attempts(laptop, worker.run_id)
    assert writers == [*[1] * (takeover["seq"] - 1), *[2] * (len(seen) - takeover["seq"])]
    calls = provider.of(worker.said)
    assert [call.turn for call in calls] == [0, *range(TURNS)]
    assert [call.hung_up.is_set() for call in calls] == [True, *[False] * TURNS]
    late = rf"late=True of=(\w+) run_id={worker.run_id} attempt=(\d+) step=(\d+) bytes=\d+"
    assert re.findall(late, laptop.log) == [("model_call", "1", "1")]


def attempts(laptop: Laptop, run_id: str) -> list[int]:
    """Who wrote each event of the run, after the first, which nobody did who held it: as it stands in the table."""
    items = [write["item"] for write in read(laptop.folder / "data" / "journal.jsonl").items.values()]
    events = [item for item in items if item["pk"] == {"S": f"RUN#{run_id}"} and item["sk"]["S"].startswith("EVENT#")]
    events.sort(key=lambda item: str(item["sk"]["S"]))
    return [int(item["attempt"]["N"]) for item in events[1:]]


def types(client: PawlClient, run_id: str) -> list[Any]:
    return [event.type for event in client.events(run_id).events]
