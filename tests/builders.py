"""Values for tests, with something sensible wherever a test does not care: `a_run(status=Status.WAITING)`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from chalicelib.core.agent import BUILT_IN, Agent
from chalicelib.core.announcement import STATUS_WITH, Announcement, announcement
from chalicelib.core.api_key import ApiKey, Scope
from chalicelib.core.change import Change
from chalicelib.core.events import OUTSIDE, Event, EventType, Stamp
from chalicelib.core.run import Budget, Run, Status, Trigger
from chalicelib.core.transitions import move as move
from chalicelib.core.webhook import Webhook

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUN_ID = "run_00000000000000000000000001"

_write = count(1)


def a_run(**fields: Any) -> Run:
    """A pending run as submit leaves it, but for `fields`."""
    submitted = Run(
        run_id=RUN_ID,
        account_id="acme",
        agent="demo",
        agent_version=BUILT_IN,
        status=Status.PENDING,
        budget=Budget(steps=10, seconds=600),
        created_at=NOON,
        start=1,
        due_at=NOON + timedelta(minutes=1),
    )
    return replace(submitted, **fields)


def a_held_run(**fields: Any) -> Run:
    """A running run in its first attempt, held for half a minute."""
    until = NOON + timedelta(seconds=30)
    held = a_run(status=Status.RUNNING, attempt=1, lease_until=until, due_at=until)
    return replace(held, **fields)


def a_stamp(attempt: int = OUTSIDE, *, at: datetime = NOON) -> Stamp:
    """A stamp of a write that nobody else makes."""
    return Stamp(at, attempt, f"write-{next(_write)}")


def an_event(seq: int, type: EventType = EventType.TEXT_DELTA, *, attempt: int = 1, **data: Any) -> Event:
    stamp = a_stamp(attempt)
    return Event(seq, type, stamp.at, data, stamp.attempt, stamp.write_id)


def an_announcement(type: EventType = EventType.RUN_DONE, *, account_id: str = "acme", seq: int = 5) -> Announcement:
    about: dict[str, Any] = {
        "approval_id": "ap_5",
        "name": "mail",
        "expires_at": "2026-01-02T12:00:00+00:00",
        "args": {"to": "all"},
    }
    told = announcement(account_id, RUN_ID, an_event(seq, type, output="a secret", **about))
    assert told is not None
    return told


def a_webhook(**fields: Any) -> Webhook:
    hook = Webhook(
        account_id="acme",
        name="ops",
        url="https://hooks.example.com/pawl",
        events=frozenset(STATUS_WITH),
        secret="whsec_c2VjcmV0",
        created_at=NOON,
    )
    return replace(hook, **fields)


def accepted() -> Event:
    """The event that every log begins with."""
    return an_event(0, EventType.RUN_ACCEPTED, attempt=OUTSIDE, text="Analyse market data")


def run_id(number: int) -> str:
    """Run ids that sort by their number."""
    return f"run_{number:026d}"


def a_move(run: Run, trigger: Trigger, *, tail: int, attempt: int | None = None, **fields: Any) -> Change:
    """The run's next state by that trigger, written by its holder unless `attempt` says otherwise."""
    stamp = a_stamp(run.attempt if attempt is None else attempt)
    return move(run, trigger, tail=tail, stamp=stamp, data={}, **fields)


def a_key(**fields: Any) -> ApiKey:
    made = ApiKey(
        key_id="key_1",
        digest="d" * 64,
        account_id="acme",
        name="laptop",
        scopes=frozenset({Scope.READ, Scope.RUN}),
        created_at=NOON,
    )
    return replace(made, **fields)


def an_agent(**fields: Any) -> Agent:
    """The first version of an account's own agent."""
    made = Agent(name="clerk", description="Files things.", prompt="Be careful.", model="scripted:market")
    return replace(made, **fields)
