"""Runs the shipped use cases one call at a time: up to the next thing they ask of the world, and on with its answer.

What a use case does is settled by the answers that it has got so far. So it is begun again with those answers, and
stopped at the first question that has none (`Asked`). Where it stands then is its frames: code, place, locals. Two
histories that lead to the same frames are one position, and the search follows it once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import SimpleQueue
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, TypeVar

from chalicelib.core import cursor
from chalicelib.core.agent import Agent
from chalicelib.core.change import Change
from chalicelib.core.errors import Collision, LeaseLost, ModelFault, RunMoved, Unavailable
from chalicelib.core.events import Event
from chalicelib.core.policy import Policy
from chalicelib.core.reply import Reply, ToolCall
from chalicelib.core.run import Run, Status
from chalicelib.core.tools import Invocation, ToolResult, ToolSpec
from chalicelib.ports.model import ModelRequest
from chalicelib.ports.run_store import Claim, Page
from tests.model.book import Freezer, Outside, contents
from tests.model.liveness import living
from tests.model.promises import Broken
from tests.model.table import LOST, MOVED, Call, Result, Shelf

T = TypeVar("T")

Said = str | Reply | ModelFault
"""What a model's stream brings; a fault is its end."""


class Asked(BaseException):
    """The use case has asked for something that has no answer yet."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.call = call


@dataclass(frozen=True)
class Surroundings:
    """What the models and tools of a scenario are."""

    agent: Agent
    says: Callable[[ModelRequest], Sequence[Said]]
    tools: dict[str, ToolSpec]
    poison: bool = False
    """Every worker that makes a model call dies of it."""


class Ports(Outside):
    """Every port at once, answered out of a history."""

    def __init__(self, shelf: Shelf, around: Surroundings, label: str, offset: int, history: History) -> None:
        self._shelf = shelf
        self._around = around
        self._label = label
        self._answers = iter(history[1:])
        self._now = history[0][1]
        self.ids = offset

    def ask(self, kind: str, *args: Any) -> Result:
        """The recorded answer. Raises `Asked`, or the fault that the answer is."""
        answer = next(self._answers, None)
        if answer is None:
            raise Asked(Call(kind, args))
        result, self._now = answer
        if result[0] == "collision":
            raise Collision(self._shelf.events[result[1]])
        if result == MOVED:
            raise RunMoved("")
        if result == LOST:
            raise LeaseLost("")
        return result

    # RunStore

    def log(self, run_id: str, since: int = cursor.START) -> tuple[Run | None, list[Event]]:
        read = self.ask("events", since)
        run = self._shelf.runs[self.ask("run behind")[1]]
        return run, list(cursor.unbroken(self._shelf.log(read[1]), since))

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

    def keep_token(self, run: Run, token: str) -> None:
        self.ask("keep token", self._shelf.runs.number(run), token)

    def due(self, now: datetime, limit: int) -> Sequence[Run]:
        run = self._shelf.runs[self.ask("due")[1]]
        return [run] if run.due_at is not None else []

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

    def look_up(self, run_id: str) -> NoReturn:
        raise NotImplementedError("nothing is deleted in a search")

    def delete(self, run: Run, at: datetime) -> NoReturn:
        raise NotImplementedError("nothing is deleted in a search")

    def stamp_watched(self, run_id: str, until: datetime) -> NoReturn:
        raise NotImplementedError("readers have a search of their own")

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


History = tuple[tuple[Result, datetime], ...]
Role = tuple[Any, ...]
"""What is run: a name, and its arguments."""


class Position(NamedTuple):
    """Where somebody stands: waiting for the answer to `call`, or through with `outcome`."""

    role: Role
    label: str
    history: History
    call: Call | None
    outcome: Any
    ids: int


class Cast:
    """Everybody who can act, and every position in which they can stand."""

    def __init__(self, shelf: Shelf, around: Surroundings, roles: dict[str, Callable[..., Any]]) -> None:
        self._shelf = shelf
        self._around = around
        self._roles = roles
        self._numbers: dict[Hashable, int] = {}
        self._positions: list[Position] = []
        self._memo: dict[tuple[int, Result, datetime], int] = {}

    def __getitem__(self, number: int) -> Position:
        return self._positions[number]

    def __len__(self) -> int:
        return len(self._positions)

    def begin(self, role: Role, label: str, offset: int, now: datetime) -> int:
        """The position before the first question."""
        return self._run(role, label, offset, ((("begins", offset), now),))

    def go_on(self, number: int, result: Result, now: datetime) -> int:
        """The position after this answer."""
        key = (number, result, now)
        found = self._memo.get(key)
        if found is None:
            role, label, history, _, _, _ = self._positions[number]
            found = self._memo[key] = self._run(role, label, history[0][0][1], (*history, (result, now)))
        return found

    def _run(self, role: Role, label: str, offset: int, history: History) -> int:
        ports = Ports(self._shelf, self._around, label, offset, history)
        call, outcome = None, None
        try:
            outcome = self._roles[role[0]](ports, *role[1:])
            place: Hashable = ("through", self._shelf.freezer.freeze(outcome))
        except Unavailable:
            place = ("gives up",)
        except Exception as fault:
            raise Broken(f"{label}: {type(fault).__name__}: {fault}") from fault
        except Asked as asked:
            call, place = asked.call, (asked.call, _frames(asked.__traceback__, self._shelf.freezer))
        return self._numbered((role, label, ports.ids, place), Position(role, label, history, call, outcome, ports.ids))

    def _numbered(self, key: Hashable, position: Position) -> int:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._positions)
            self._positions.append(position)
        return found


_AROUND = ("Cast.", "_advance", "_await_answer", "_abandon", "_put_back", "_sweep", "_cancel", "_say")
"""Frames that know more of the past than matters, or nothing."""


def _frames(raised: TracebackType | None, freezer: Freezer) -> Hashable:
    frames = []
    while raised is not None:
        code = raised.tb_frame.f_code
        if not code.co_qualname.startswith(_AROUND):
            frames.append((code.co_qualname, raised.tb_lasti, living(raised.tb_frame, raised.tb_lasti)))
        raised = raised.tb_next
    return freezer.freeze(frames)
