"""Five hundred runs through one local cloud, fifty at a time, some cancelled, their followers' lines cut: `make soak`.

A third of the runs is polled, a third followed by SSE, a third by WebSocket; the lines of the last two are cut again
and again, in the middle of a frame too, and taken up with the cursor. It ends with 1 if a run did not end, was
cancelled and ended otherwise, or was not seen whole; if the doctor finds something; or if more is left behind than may
be.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import resource
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx

from bench.crowd import Watcher
from bench.drops import Drops, dropping
from bench.seen import judged
from bench.soaked import EACH, WAYS, Life, Plan, Soak
from bench.socket_crowd import SocketWatcher
from tests.stories.conftest import Town, a_town, with_scripts

GLANCE = 1.5
"""Real seconds between two polls: fifty followers share two cores with all of the cloud."""
PAUSE = 0.5
"""Real seconds before a line that was cut is taken up again."""
CUTS_A_RUN = 20
"""At most, on the average."""
SERVING = {"app", "chalice", "chalicelib", "infra", "anyio", "starlette", "uvicorn", "websockets", "wsproto"}
FIRST_CUT = 200
"""Bytes: a line is cut after so many, or more, in the middle of its first frame or later."""


@dataclass
class PollWatcher(Watcher):
    """A `Watcher` who hangs up after every answer."""

    async def poll(self, client: httpx.AsyncClient, run_id: str) -> None:
        while not self.ended:
            await asyncio.sleep(GLANCE)
            params = {"since": self.seqs[-1] if self.seqs else -1}
            answer = await client.get(f"/v1/runs/{run_id}/events", params=params)
            for event in answer.raise_for_status().json()["events"]:
                self.note(event)


class Soaking:
    """Runs through a town, so many at a time."""

    def __init__(self, place: Town, plan: Plan, client: httpx.AsyncClient, port: int, proxy: Drops) -> None:
        self._place = place
        self._plan = plan
        self._client = client
        self._port = port
        self._proxy = proxy
        self._random = Random(plan.seed)
        self._room = asyncio.Semaphore(plan.at_once)
        self.soak = Soak(plan, memory=[resident()], threads=[threading.active_count()], objects=[objects()])

    async def all(self) -> None:
        await asyncio.gather(*(self._one(number) for number in range(self._plan.runs)))

    async def _one(self, number: int) -> None:
        agent, cancelled = self._random.choice(self._plan.agents), self._random.random() < self._plan.cancelled
        cancel_at = self._random.randint(1, 8) if cancelled else None
        async with self._room:
            self.soak.lives.append(await self._live(agent, WAYS[number % len(WAYS)], cancel_at))
        self.soak.cuts = self._proxy.made
        if len(self.soak.lives) % EACH == 0:
            self.soak.memory.append(resident())
            print(self.soak, flush=True)

    async def _live(self, agent: str, way: str, cancel_at: int | None) -> Life:
        answer = await self._client.post("/v1/runs", json={"agent": agent, "text": "go"})
        run_id = str(answer.raise_for_status().json()["run_id"])
        watcher = {"poll": PollWatcher, "sse": Watcher, "socket": SocketWatcher}[way]()
        cancelling = asyncio.create_task(self._cancel(run_id, watcher, cancel_at))
        try:
            async with asyncio.timeout(self._plan.patience):
                await self._follow(watcher, run_id)
                taken = await cancelling
        except TimeoutError:
            cancelling.cancel()
            return Life(run_id, way, None, whole=False)
        run = (await self._client.get(f"/v1/runs/{run_id}")).raise_for_status().json()
        return Life(run_id, way, run["status"], judged(watcher.seqs, run["last_seq"] + 1).whole, taken)

    async def _follow(self, watcher: Watcher, run_id: str) -> None:
        match watcher:
            case PollWatcher():
                await watcher.poll(self._client, run_id)
            case SocketWatcher():
                await watcher.subscribe(self._client, self._port, run_id, PAUSE)
            case _:
                await watcher.follow(self._port, f"/v1/runs/{run_id}/stream", self._place.key, PAUSE)

    async def _cancel(self, run_id: str, watcher: Watcher, cancel_at: int | None) -> bool:
        """Whether a cancel was taken: of a run that has ended already, the answer says so."""
        while cancel_at is not None and not watcher.ended:
            if len(watcher.seqs) >= cancel_at:
                answer = await self._client.post(f"/v1/runs/{run_id}/cancel", json={"reason": "enough"})
                return answer.raise_for_status().json()["status"] in {"cancelling", "cancelled"}
            await asyncio.sleep(0.1)
        return False


def soak(place: Town, plan: Plan) -> Soak:
    """Live through the plan in that town, and look at what is left behind."""
    random = Random(plan.seed)
    upstream = httpx.URL(place.cloud.url).port
    assert upstream is not None
    with dropping(upstream, CUTS_A_RUN * plan.runs, lambda: int(FIRST_CUT * 2 ** random.uniform(0, plan.doubled))) as (
        port,
        proxy,
    ):
        done = asyncio.run(_soaked(place, plan, port, proxy))
    done.findings = settled(place, seconds=60)
    done.threads.append(threading.active_count())
    done.objects.append(objects())
    return done


async def _soaked(place: Town, plan: Plan, port: int, proxy: Drops) -> Soak:
    headers = {"Authorization": f"Bearer {place.key}"}
    # A line for each request: one that is kept may be closed by the server while the next request is on its way.
    limits = httpx.Limits(max_keepalive_connections=0)
    async with httpx.AsyncClient(
        base_url=place.cloud.url, headers=headers, timeout=60, limits=limits, trust_env=False
    ) as client:
        soaking = Soaking(place, plan, client, port, proxy)
        await soaking.all()
    return soaking.soak


def settled(place: Town, seconds: float) -> list[Any]:
    """What the doctor finds once the last executions have ended; what it still finds after so many seconds."""
    until = time.monotonic() + seconds
    while (found := findings(place)) and time.monotonic() < until:
        threading.Event().wait(GLANCE)
    return found


def findings(place: Town) -> list[Any]:
    """What the doctor says of every run and execution."""
    found: list[Any] = []
    after: str | None = ""
    while after is not None:
        answer = place.http.get("/v1/admin/doctor", params={"limit": 100, **({"next": after} if after else {})})
        page = answer.raise_for_status().json()
        found += page["findings"]
        after = page["next"]
    return found


def resident() -> int:
    """Bytes of this process that are in memory now, where the system says so; the peak elsewhere.

    What the allocator merely keeps for later is given back first: with a hundred threads that would hide the rest.
    """
    gc.collect()
    with suppress(AttributeError):  # a C library that has no such function
        ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def objects() -> int:
    """How many objects of our classes, and of those that serve for us, there are in this process."""
    gc.collect()
    return sum(str(type(each).__module__).partition(".")[0] in SERVING for each in gc.get_objects())


def through_a_town(plan: Plan) -> Soak:
    """Live through the plan in a town of its own."""
    with a_town({}, ticking=True) as place:
        with_scripts()
        return soak(place, plan)


def main() -> int:
    """Run the soak; 1 if anything was not as it must be."""
    done = through_a_town(_arguments())
    faults = list(done.faults())
    print(done, *faults, sep="\n")
    return 1 if faults else 0


def _arguments() -> Plan:
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=Plan.runs)
    parser.add_argument("--at-once", type=int, default=Plan.at_once)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    asked = parser.parse_args()
    return Plan(asked.runs, asked.at_once, asked.seed)


if __name__ == "__main__":
    sys.exit(main())
