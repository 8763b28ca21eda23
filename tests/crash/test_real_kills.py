"""Runs at once, and SIGKILL at random moments: the whole local cloud, or single Lambda processes.

`make test` kills five times, `make crash` fifty times, in rounds of two: a run whose worker dies three times at one
step is, rightly, given up as a crash loop. The seed is printed; CRASH_SEED repeats the choices, not the timing.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from pawl_client import PawlClient, PawlError, Unreachable
from tests.crash.laptop import Laptop, strike
from tests.crash.provider import TEXT, TURNS, providing
from tests.crash.screen import shown
from tests.patience import await_true

THOROUGH = os.environ.get("CRASH_POINTS") == "all"
SEED = int(os.environ.get("CRASH_SEED", time.time_ns() % 100_000))
GLANCE = 1.5
"""Real seconds between two polls of a follower: twenty of them share two cores with all of the cloud."""
PATIENCE = 240
"""Real seconds after which a run is stuck."""


class Round(NamedTuple):
    """Runs at once, and how often is killed before they have ended."""

    runs: int
    kills: int


Seen = list[dict[str, Any]]
Kill = Callable[[Laptop, Random], None]


def the_cloud(laptop: Laptop, random: Random) -> None:
    laptop.kill()
    laptop.start()


def a_lambda(laptop: Laptop, random: Random) -> None:
    await_true(laptop.workers, seconds=30)
    strike(random.choice(laptop.workers()), signal.SIGKILL)


@pytest.mark.parametrize(
    ("kill", "kind", "rounds"),
    [
        (the_cloud, "thread", [Round(20, 2)] * 15 if THOROUGH else [Round(20, 2), Round(5, 1)]),
        (a_lambda, "process", [Round(20, 2)] * 10 if THOROUGH else [Round(5, 2)]),
    ],
    ids=["the whole cloud", "a Lambda process"],
)
def test_no_kill_loses_or_repeats_anything(kill: Kill, kind: str, rounds: list[Round], tmp_path: Path) -> None:
    random = Random(SEED)
    with ExitStack() as opened:
        model = opened.enter_context(providing())
        laptop = opened.enter_context(Laptop(tmp_path, model, "--lambdas", kind))
        client = opened.enter_context(PawlClient(laptop.url, laptop.key))
        followers = opened.enter_context(ThreadPoolExecutor(rounds[0].runs))
        for each in rounds:
            run_ids = [client.submit("go", agent="chat")["run_id"] for _ in range(each.runs)]
            seen = [followers.submit(followed, client, run_id) for run_id in run_ids]
            for _ in range(each.kills):
                threading.Event().wait(random.uniform(0.5, 3.0))
                kill(laptop, random)
            for future in seen:
                check(future.result())
        assert findings(client) == []
    runs, kills = (sum(numbers) for numbers in zip(*rounds, strict=True))
    print(f"{runs} runs, {kills} kills, 0 events lost or doubled (seed {SEED})")


def followed(client: PawlClient, run_id: str) -> Seen:
    """What a client saw of a run, polling with its cursor through whatever happened to the server."""
    seen: Seen = []
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        threading.Event().wait(GLANCE)
        try:
            page = client.events(run_id, seen[-1]["seq"] if seen else -1)
        except Unreachable:
            continue
        except PawlError as fault:
            if fault.status < 500:
                raise
            continue
        seen += [{"seq": event.seq, "type": event.type, "data": event.data} for event in page.events]
        if page.done:
            return seen
    raise AssertionError(f"{run_id} did not end; seed {SEED}; its last events: {seen[-3:]}")


def findings(client: PawlClient) -> list[Any]:
    """What the doctor says of every run and execution."""
    page = client.doctor()
    found: list[Any] = page["findings"]
    while page["next"]:
        page = client.doctor(after=page["next"])
        found += page["findings"]
    return found


def check(seen: Seen) -> None:
    """What one client saw of one run, from its first event to its end."""
    assert [event["seq"] for event in seen] == [*range(len(seen))], f"seed {SEED}"
    assert seen[-1]["type"] == "run.done", seen[-1]
    assert shown(seen) == TEXT * TURNS
    replied = [event["data"]["step"] for event in seen if event["type"] == "model.replied"]
    assert replied == [*range(1, TURNS + 1)]
    finished = Counter(event["data"]["call_id"] for event in seen if event["type"] == "tool.finished")
    assert len(finished) == 2 * (TURNS - 1)
    assert set(finished.values()) == {1}
