"""Find a question, show it, and answer exactly what was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from pawl_client import questions
from pawl_client.client import PawlClient
from pawl_client.errors import NotAsked
from pawl_client.follow import START
from pawl_client.screen import Chatter
from pawl_client.shortly import apart
from pawl_client.telling import Tone
from pawl_client.wire import ENDS, SNAPSHOT, Event, Json


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision of the user's. `args` are those of an edited call."""

    decision: str
    args: Json | None = None
    note: str | None = None
    grant: bool = False


def find(client: PawlClient, run_id: str, approval_id: str) -> tuple[Json, bool]:
    """The question as it stands in the run's log, and whether it is still open. Raises `NotAsked`."""
    asked, still_open = _fold(client, run_id)
    if approval_id not in asked:
        raise NotAsked(run_id, approval_id)
    found = asked[approval_id]
    return {**found, "args": _whole(client, run_id, found["args"])}, approval_id in still_open


def open_questions(client: PawlClient, run_id: str) -> list[Mapping[str, Any]]:
    """What the run asks and has no answer to, in the order in which it asked."""
    asked, still_open = _fold(client, run_id)
    return [one for approval_id, one in asked.items() if approval_id in still_open]


def _fold(client: PawlClient, run_id: str) -> tuple[Mapping[str, Mapping[str, Any]], Set[str]]:
    """Every question of the run, by its id, and which of them are open."""
    asked: dict[str, Mapping[str, Any]] = {}
    still_open: set[str] = set()
    for event in _log(client, run_id):
        new = {one["approval_id"]: one for one in _asked(event)}
        asked |= new
        still_open |= new.keys()
        if event.type == "approval.resolved":
            still_open.discard(event.data["approval_id"])
        if event.type in ENDS:
            still_open.clear()
    return asked, still_open


def _log(client: PawlClient, run_id: str) -> Iterator[Event]:
    """The run's log as far as it goes."""
    since, more = START, True
    while more:
        page = client.events(run_id, since)
        yield from page.events
        since, more = page.next_since, page.has_more


def _asked(event: Event) -> list[Mapping[str, Any]]:
    """The questions that an event tells of; a snapshot knows those that are open."""
    if event.type == SNAPSHOT:
        calls = (call for step in event.data["steps"] for call in step["calls"])
        return [call["approval"] for call in calls if "approval" in call]
    return [event.data] if event.type == "approval.requested" else []


def _whole(client: PawlClient, run_id: str, args: Any) -> Any:
    """What is too large for an event lies apart, and an answer is about all of it."""
    kept = apart(args)
    return client.payload(run_id, kept["digest"]) if kept else args


def show(asked: Json) -> None:
    """The question, on stderr."""
    chatter = Chatter()
    chatter.note(f"? {questions.head(asked)}", Tone.WARNING)
    for line in questions.lines(asked):
        chatter.note(f"  {line}")


def send(client: PawlClient, run_id: str, asked: Json, answer: Answer) -> Json:
    """Send the answer to what was shown: its digest goes with it. The event that stands."""
    return client.decide(
        run_id,
        asked["approval_id"],
        answer.decision,
        asked["digest"],
        args=answer.args,
        note=answer.note,
        grant=answer.grant,
    )
