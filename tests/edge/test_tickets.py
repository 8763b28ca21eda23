"""A stream by a ticket in its URL, as an EventSource has it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from httpx_sse import connect_sse

from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.ticket import COUNTS_FOR
from chalicelib.usecases.make_ticket import make_ticket
from tests.builders import RUN_ID, run_id
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import a_world, serving
from tests.virtual_time import VirtualTime

PATH = f"/v1/runs/{RUN_ID}/stream"


class Place:
    """A served log, and a clock that tests turn."""

    def __init__(self, log: MemoryLog, world: World, url: str) -> None:
        self.log, self._world = log, world
        self.client = httpx.Client(base_url=url, timeout=10, trust_env=False)

    def ticket(self, run: str | None = RUN_ID, account_id: str = "acme", *scopes: Scope) -> str:
        text, _ = make_ticket(
            run if account_id == "acme" and run == RUN_ID else None,
            account_id=account_id,
            key_id="key_1",
            scopes=frozenset(scopes or {Scope.READ}),
            secret=self._world.ticket_secret,
            runs=self._world.runs,
            clock=self._world.clock,
        )
        return text

    def let_the_ticket_expire(self) -> None:
        self._world.clock.sleep(COUNTS_FOR.total_seconds())

    def status(self, ticket: str, run: str = RUN_ID) -> int:
        with self.client.stream("GET", f"/v1/runs/{run}/stream", params={"ticket": ticket}) as answer:
            return answer.status_code


@pytest.fixture
def place() -> Iterator[Place]:
    log = MemoryLog(3)
    world = a_world(log, ticket_secret="t" * 32)
    world.clock = VirtualTime()
    with serving(world) as (url, _):
        made = Place(log, world, url)
        yield made
        made.client.close()


def test_a_ticket_opens_the_stream_of_its_run(place: Place) -> None:
    assert place.status(place.ticket()) == 200
    assert place.status(place.ticket(None)) == 200


def test_a_ticket_opens_nothing_else(place: Place) -> None:
    good = place.ticket()
    assert place.status(good, run_id(2)) == 403
    assert place.status(good[:-1] + ("A" if good[-1] != "A" else "B")) == 401
    assert place.status("") == 401
    assert place.status(place.ticket(None, "acme", Scope.RUN)) == 403
    assert place.status(place.ticket(None, "globex")) == 404
    assert place.client.post(f"/v1/runs?stream=true&ticket={good}", json={}).status_code == 401
    place.let_the_ticket_expire()
    assert place.status(good) == 401


def test_a_watch_across_several_tickets_misses_nothing_and_has_nothing_twice(place: Place) -> None:
    seen: list[int] = []
    tickets = 0
    while not seen or seen[-1] < 12:
        headers = {"Last-Event-ID": str(seen[-1])} if seen else {}
        tickets += 1
        with connect_sse(place.client, "GET", PATH, params={"ticket": place.ticket()}, headers=headers) as source:
            for event in source.iter_sse():
                seen.append(int(event.id))
                if seen[-1] in (2, 5, 8):
                    place.let_the_ticket_expire()
                    place.log.grow(3)
                elif seen[-1] == 11:
                    place.log.end()

    assert seen == [*range(13)]
    assert tickets > 2, "a ticket that expires ends its stream"
