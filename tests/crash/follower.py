"""A client who follows one run throughout, whatever happens to its workers."""

from __future__ import annotations

from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.core.events import Event, EventType
from chalicelib.usecases.read_events import read_events
from tests.usecases.workshop import RUN_ID
from tests.virtual_time import VirtualTime


class Follower:
    """Polls with its cursor, as a phone would, and keeps what it was given."""

    def __init__(self, runs: DynamoRunStore, time: VirtualTime) -> None:
        self._runs = runs
        self._time = time
        self.seen: list[Event] = []
        self.done = False

    def poll(self) -> None:
        more = True
        while more and not self.done:
            cursor = self.seen[-1].seq if self.seen else -1
            answer = read_events(RUN_ID, cursor, 100, 0, account_id="acme", runs=self._runs, clock=self._time)
            self.seen += answer.events
            self.done, more = answer.done, answer.has_more

    @property
    def text(self) -> str:
        """What stands on its screen: deltas, less what a reset took back."""
        shown: dict[int, str] = {}
        for event in self.seen:
            if event.type is EventType.TEXT_DELTA:
                shown[event.seq] = event.data["text"]
            elif event.type is EventType.STEP_RESET:
                shown = {seq: text for seq, text in shown.items() if seq < event.data["from_seq"]}
        return "".join(shown.values())
