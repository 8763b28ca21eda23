"""Code that a model has written, run by the local cloud: the packaged functions, a real sandbox, a real cancel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from chalicelib import bootstrap
from chalicelib.adapters.models.routing import RoutedModel
from chalicelib.adapters.models.scripted import Script, ScriptedModel, Turn
from chalicelib.core.agent import Agent
from chalicelib.core.reply import AskedCall
from chalicelib.core.run import Budget
from tests.patience import await_true
from tests.sandbox.host import descendants
from tests.stories.conftest import OpenTown, Town

WRITES = "open('out/sum.txt', 'w').write(str(sum(range(10))))"
READS = "print('read', open('in/sum.txt').read())"
SLEEPS = "import time; time.sleep(600)"

SCRIPTS: dict[str, Script] = {
    "two-calls": (
        Turn(calls=(AskedCall("run_code", {"code": WRITES}),)),
        Turn(calls=(AskedCall("run_code", {"code": READS, "files": ["sum.txt"]}),)),
        Turn(text="Forty-five."),
    ),
    "sleeps": (Turn(calls=(AskedCall("run_code", {"code": SLEEPS}),)), Turn(text="never")),
}


class Book:
    """An agent for each script, with code as its one tool."""

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return next((agent for agent in self.all(account_id) if agent.name == name), None)

    def all(self, account_id: str) -> list[Agent]:
        budget = Budget(steps=10, seconds=600)
        return [Agent(name, "plays", "", f"scripted:{name}", ("run_code",), budget) for name in SCRIPTS]


def analysts(town: OpenTown) -> Town:
    place, world = town(), bootstrap.world()
    world.agents = Book()
    world.model = RoutedModel({"scripted": ScriptedModel(SCRIPTS, world.clock)})
    return place


def _shims() -> list[int]:
    """The sandboxes of this process: its Lambdas run in it."""
    return [pid for pid in descendants(os.getpid()) if b"inside.shim" in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""


def test_what_one_call_leaves_the_next_one_finds(town: OpenTown) -> None:
    place = analysts(town)
    run_id = place.submit("two-calls")
    events = place.follow(run_id)

    made, read = [event["data"] for event in events if event["type"] == "tool.finished"]
    assert made["ok"], made
    assert [(file["name"], file["size"]) for file in made["files"]] == [("sum.txt", 2)]
    assert "\nread 45\n" in read["content"]
    assert events[-1]["type"] == "run.done"
    [listed] = place.http.get(f"/v1/runs/{run_id}").json()["files"]
    assert listed == {**made["files"][0], "kind": "artifact"}
    link = f"/v1/runs/{run_id}/files/{listed['file_id']}"
    assert place.http.get(link, follow_redirects=True).content == b"45"


def test_a_cancelled_run_has_its_code_killed(town: OpenTown) -> None:
    place = analysts(town)
    run_id = place.submit("sleeps")
    place.follow(run_id, until=lambda event: event["type"] == "tool.started")
    await_true(_shims, 10)

    place.cancel(run_id)
    end: dict[str, Any] = place.follow(run_id)[-1]

    assert end["type"] == "run.cancelled"
    assert end["data"]["latency_ms"] < 2500
    await_true(lambda: not _shims(), 1)
