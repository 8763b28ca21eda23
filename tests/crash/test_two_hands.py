"""Two hands on one run: a worker that was frozen past its lease, and wakes up when another one has the run."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

from pawl_client import PawlClient
from tests.crash.laptop import Laptop, strike
from tests.crash.provider import providing
from tests.crash.test_real_kills import check, findings, followed
from tests.patience import await_true

MOMENT = 3.0
"""Real seconds that the woken worker gets to do its worst: several of its renewals and appends."""


def test_a_worker_that_was_frozen_past_its_lease_writes_nothing_more(tmp_path: Path) -> None:
    with (
        providing() as model,
        Laptop(tmp_path, model, "--lambdas", "process", speed=6) as laptop,
        PawlClient(laptop.url, laptop.key) as client,
    ):
        run_id = client.submit("go", agent="chat")["run_id"]
        await_true(lambda: "text.delta" in types(client, run_id), seconds=30)
        (frozen,) = laptop.workers()
        strike(frozen, signal.SIGSTOP)
        seen = followed(client, run_id)
        check(seen)
        takeover = next(event for event in seen if event["type"] == "run.attempt")
        assert takeover["data"]["reason"] == "lapsed"
        strike(frozen, signal.SIGCONT)
        threading.Event().wait(MOMENT)
        assert [event.seq for event in client.events(run_id, limit=1000).events] == [event["seq"] for event in seen]
        assert findings(client) == []


def types(client: PawlClient, run_id: str) -> list[Any]:
    return [event.type for event in client.events(run_id).events]
