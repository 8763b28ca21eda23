"""Runs the shipped use cases one call at a time: up to the next thing they ask of the world, and on with its answer.

What a use case does is settled by the answers that it has got so far. So it is begun again with those answers, and
stopped at the first question that has none (`Asked`). Where it stands then is its frames: code, place, locals. Two
histories that lead to the same frames are one position, and the search follows it once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from queue import SimpleQueue
from typing import Any, NoReturn, TypeVar

from chalicelib.core import cursor
from chalicelib.core.agent import Agent
from chalicelib.core.change import Change
from chalicelib.core.errors import Collision, LeaseLost, ModelFault, NoSlot, RunMoved
from chalicelib.core.events import Event
from chalicelib.core.policy import Policy
from chalicelib.core.reply import Reply, ToolCall
from chalicelib.core.run import Run, Slot, Status
from chalicelib.core.slots import Slots
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec
from chalicelib.ports.model import ModelRequest
from chalicelib.ports.run_store import Claim, Page
from tests.model.book import Outside, contents
from tests.model.liveness import frames
from tests.model.table import LOST, MOVED, NO_SLOT, Call, Result, Shelf

T = TypeVar("T")

Said = str | Reply | ModelFault
"""What a model's stream brings; a fault is its end."""


History = tuple[tuple[Result, datetime], ...]
"""The answers that a use case has got so far, and when."""


class Asked(BaseException):
    """The use case has asked for something that has no answer yet. `place` is where it then stood."""

    def __init__(self, call: Call, place: Hashable) -> None:
        super().__init__(call)
        self.call = call
        self.place = place


@dataclass(frozen=True)
class Surroundings:
    """What the models and tools of a scenario are."""

    agent: Agent
    says: Callable[[ModelRequest], Sequence[Said]]
    tools: dict[str, ToolSpec]
    poison: bool = False
    """Every worker that makes a model call dies of it."""
    crowded: bool = False
    """The account may have one run at work, and another one is."""


class Ports(Outside):
    """Every port at once, answered out of a history."""

    def __init__(self, shelf: Shelf, around: Surroundings, label: str, offset: int, history: History) -> None:
        self._shelf = shelf
        self._around = around
        self.crowded = around.crowded
        self._label = label
        self._answers = iter(history[1:])
        self._now = history[0][1]
        self.ids = offset

    def ask(self, kind: str, *args: Any) -> Result:
        """The recorded answer. Raises `Asked`, or the fault that the answer is."""
        answer = next(self._answers, None)
        if answer is None:
            raise Asked(Call(kind, args), frames(self._shelf.freezer))
        result, self._now = answer
        if result[0] == "collision":
            raise Collision(self._shelf.events[result[1]])
        if result == MOVED:
            raise RunMoved("")
        if result == LOST:
            raise LeaseLost("")
        if result == NO_SLOT:
            raise NoSlot("")
        return result

    # RunStore

    def log(self, run_id: str, since: int = cursor.START) -> tuple[Run | None, list[Event]]:
        """A Query reads item by item. What comes about while it reads is met beyond where it has read, but for the next
        event: that place was looked at when nothing stood there."""
        read = self._shelf.log(self.ask("events", since)[1])
        after = self._shelf.log(self.ask("events beyond")[1])
        run = self._shelf.runs[self.ask("run behind")[1]]
        beyond = [event for event in after if event.seq > cursor.following(read[-1].seq)]
        return run, list(cursor.unbroken([*read, *beyond], since))

    def remains(self, run_id: str) -> tuple[Run | None, list[Event]]:
        return self.log(run_id)

    def tail(self, run_id: str) -> tuple[Run, Event] | None:
        run = self._shelf.runs[self.ask("run")[1]]
        return run, self._shelf.events[self.ask("event before")[1]]

    def append(self, run: Run, event: Event) -> None:
        self.ask("append", self._shelf.events.number(event))

    def commit(self, change: Change) -> None:
        before, after = self._shelf.runs.number(change.before), self._shelf.runs.number(change.after)
        events = tuple(self._shelf.events.number(event) for event in change.events)
        self.ask("commit", before, after, events, change.guards)

    def renew(self, run: Run) -> Run:
        return self._shelf.runs[self.ask("renew", self._shelf.runs.number(run))[1]]

    def hand_back(self, run: Run) -> None:
        self.ask("hand back", self._shelf.runs.number(run), self.write_id())

    def raise_start(self, run: Run, due_at: datetime) -> Run:
        return self._shelf.runs[self.ask("raise start", self._shelf.runs.number(run), due_at, self.write_id())[1]]

    def line_up(self, run: Run) -> None:
        self.ask("line up", self._shelf.runs.number(run))

    def keep_token(self, run: Run, token: str) -> None:
        self.ask("keep token", self._shelf.runs.number(run), token)

    def due(self, now: datetime, limit: int) -> Sequence[Run]:
        run = self._shelf.runs[self.ask("due")[1]]
        return [run] if run.due_at is not None and run.slot is not Slot.WANTED else []

    def create(self, run: Run, first: Event, claim: Claim | None) -> NoReturn:
        raise NotImplementedError("a run is there when the search begins")

    def page(self, run_id: str, since: int, limit: int, *, strong: bool = False) -> Page:
        raise NotImplementedError("readers have a search of their own")

    def archive(self, run_id: str) -> NoReturn:
        raise NotImplementedError("nothing grows old in a search")

    def payload(self, run_id: str, digest: str) -> NoReturn:
        raise NotImplementedError("readers have a search of their own")

    def of_account(self, account_id: str, status: Status | None, limit: int, after: str | None) -> NoReturn:
        raise NotImplementedError("readers have a search of their own")

    def asking(self, account_id: str, limit: int, after: str | None) -> NoReturn:
        raise NotImplementedError("readers have a search of their own")

    def look_up(self, run_id: str) -> Run:
        run = self._shelf.runs[self.ask("run")[1]]
        return run if run_id == run.run_id else replace(run, slot=Slot.HELD)

    def delete(self, run: Run, at: datetime) -> NoReturn:
        raise NotImplementedError("nothing is deleted in a search")

    def stamp_watched(self, run_id: str, until: datetime) -> NoReturn:
        raise NotImplementedError("readers have a search of their own")

    # SlotStore

    def slots(self, account_id: str) -> Slots:
        _, held, in_line = self.ask("held")
        own, other = self._shelf.runs[0].run_id, "run_of_others"
        holders = frozenset(name for name, holds in ((own, held.own), (other, held.other)) if holds)
        resuming = frozenset([own] if held.resuming else [])
        return Slots(account_id, holders, resuming, self._now if in_line else None, looked_after=True)

    def line(self, account_id: str, limit: int) -> Sequence[Run]:
        run = self._shelf.runs[self.ask("line")[1]]
        return [run] if run.slot is Slot.WANTED else []

    def free(self, account_id: str, run_id: str, run: Run | None) -> bool:
        assert run is not None, "no run is erased in a search"
        return self.ask("free", self._shelf.runs.number(run)) != MOVED

    def forget_line(self, slots: Slots) -> None:
        """It is forgotten by itself here, once nobody stands in it."""

    def to_tend(self, now: datetime, limit: int) -> NoReturn:
        raise NotImplementedError("there is one account in a search")

    def look_again(self, account_id: str, at: datetime) -> None:
        """In a search slots are always looked at."""

    # Workflow

    def start(self, run_id: str, start: int) -> None:
        self.ask("start", start)

    def wake(self, token: str) -> None:
        self.ask("wake", token)

    def running(self, limit: int, after: str | None) -> NoReturn:
        raise NotImplementedError("the doctor is not at work here")

    # AgentBook, Model and Toolbox

    def find(self, account_id: str, name: str, version: int | None = None) -> Agent | None:
        return self._around.agent

    def all(self, account_id: str) -> Sequence[Agent]:
        return [self._around.agent]

    def call(self, asked: ModelRequest | Invocation) -> Any:
        """A model is asked with a request, a tool with an invocation."""
        return self._work(asked.call) if isinstance(asked, Invocation) else self._think(asked)

    def _think(self, request: ModelRequest) -> _Stream:
        self.ask("think", request.step, self._shelf.freezer.freeze(request.messages))
        return _Stream(self._around.says(request))

    def _work(self, call: ToolCall) -> ToolResult:
        self.ask("effect", call.call_id)
        return ToolResult(ok=True, content="42")

    def policy(self, account_id: str) -> Policy:
        return Policy()

    def replace(self, account_id: str, policy: Policy) -> NoReturn:
        raise NotImplementedError("no role sets one")

    def of(self, account_id: str, agent: Agent) -> Ports:
        return self

    def pending(self) -> None:
        return None

    def spec(self, name: str) -> ToolSpec | None:
        return self._around.tools.get(name)

    def specs(self, names: Iterable[str]) -> tuple[ToolSpec, ...]:
        return tuple(self._around.tools[name] for name in names)

    def problem(self, call: ToolCall) -> str | None:
        return None

    def fields(self, call: ToolCall) -> dict[str, Any]:
        return {}

    def preview(self, call: ToolCall) -> str:
        return call.name

    # Clock, Chance and Crew

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float, unless: threading.Event | None = None) -> NoReturn:
        raise NotImplementedError("no use case sleeps: a worker takes from its inbox")

    def bytes(self, count: int) -> bytes:
        return bytes(count)

    def write_id(self) -> str:
        self.ids += 1
        return f"{self._label}.{self.ids}"

    def begin(self, work: Callable[[], None]) -> None:
        """A tool's thread starts when it likes; a model's stream has said all by the time that it is listened to."""
        if work.__name__ == "work":
            self.ask("thread")
        work()

    def take(self, inbox: SimpleQueue[T], seconds: float) -> T | None:
        until = self._now + timedelta(seconds=max(seconds, 0))
        answer = self.ask("take", bool(contents(inbox)), until)
        return inbox.get_nowait() if answer == ("item",) else None


class _Stream:
    def __init__(self, said: Sequence[Said]) -> None:
        self._said = said

    def chunks(self) -> Iterator[str | Reply]:
        for each in self._said:
            if isinstance(each, ModelFault):
                raise each
            yield each

    def close(self) -> None:
        pass
