"""A thousand random disconnects over a log that grows while it is followed: nothing missing, nothing doubled."""

from __future__ import annotations

import random

import pytest

from pawl_client import Back, Lost, PawlClient, follow
from tests.clients.door import Answer, Cut, Json, Request
from tests.clients.fake_pawl import OPENING, RUN_ID, SECRET, FakePawl, log_of, said
from tests.clients.manual_time import ManualTime

DISCONNECTS = 1000
LONGEST_ABSENCE = 3
"""Tries for which the server may stay away."""
SEEDS = [1, None]
"""None is a new one each time; to see a failure again, put the printed seed here."""


class BadNetwork:
    """Spoils four answers of five, each in one of the ways there are, until it has done so often enough."""

    def __init__(self, pawl: FakePawl, dice: random.Random) -> None:
        self.disconnects = 0
        self.kinds: set[str] = set()
        self._pawl = pawl
        self._dice = dice
        self._told: list[tuple[str, Json]] = list(OPENING)
        self._away = 0
        self._hole = False
        pawl.script = self.answer
        pawl.page_limit = 3
        self._grow(0)

    def answer(self, request: Request) -> Answer | None:
        self._grow(self._dice.randrange(3))
        if self.disconnects >= DISCONNECTS:
            return None
        if self._dice.random() < 0.2:
            return self._misleading(int(request.query["since"]))
        self.disconnects += 1
        return self._spoilt(int(request.query["since"]))

    def while_the_client_sleeps(self) -> None:
        """The server comes back some tries after it went."""
        if not self._pawl.door.is_open:
            self._away -= 1
            if self._away <= 0:
                self._pawl.door.open()

    def _grow(self, by: int) -> None:
        self._told += [said(f"<{len(self._told) + more}>") for more in range(by)]
        ending: list[tuple[str, Json]] = [("run.done", {"output": {}})]
        self._pawl.log = log_of(*self._told, *(ending if self.disconnects >= DISCONNECTS else []))

    def _misleading(self, since: int) -> Answer:
        """A whole answer: the true one, one with old events, or (never twice running) one with a hole."""
        kind = self._dice.choice(["true", "stale", "true" if self._hole else "hole"])
        self._hole = kind == "hole"
        if kind == "stale":
            return Answer(200, self._pawl.page(max(since - 2, -1)))
        return Answer(200, self._pawl.page(since, skip=int(self._hole)))

    def _spoilt(self, since: int) -> Answer:
        kind = self._dice.choice(["gone", "503", *(cut.name for cut in Cut if cut is not Cut.SILENT)])
        self.kinds.add(kind)
        if kind == "gone":
            self._away = self._dice.randrange(1, LONGEST_ABSENCE + 1)
            self._pawl.door.shut()
            return Answer(cut=Cut.RESET)
        if kind == "503":
            return Answer(self._dice.choice([502, 503, 504]), "<h1>Gateway</h1>")
        return Answer(200, self._pawl.page(since), cut=Cut[kind])


@pytest.mark.parametrize("given", SEEDS)
def test_over_a_thousand_disconnects_every_event_comes_once_and_in_order(given: int | None) -> None:
    seed = random.SystemRandom().randrange(2**32) if given is None else given
    print(f"seed {seed}")
    with FakePawl() as pawl:
        network = BadNetwork(pawl, random.Random(seed))
        time = ManualTime(on_sleep=network.while_the_client_sleeps)
        heard: list[Lost | Back] = []
        with PawlClient(pawl.url, SECRET) as client:
            received = list(follow(client, RUN_ID, pace=time.pace(), notice=heard.append))
    assert [event.document(RUN_ID) for event in received] == [{"run_id": RUN_ID, **event} for event in pawl.log]
    assert network.disconnects == DISCONNECTS
    assert sum(isinstance(news, Lost) for news in heard) >= DISCONNECTS
    assert len(network.kinds) == 6
