"""What a run is: its status, its hold, its budget. Values only; `transitions.move` makes the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """Where a run stands. DESIGN section 3."""

    PENDING = "pending"
    RUNNING = "running"
    STREAMING = "streaming"
    WAITING = "waiting"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """Whether nothing can follow."""
        return self in TERMINAL


TERMINAL = frozenset({Status.DONE, Status.FAILED, Status.CANCELLED})


class Slot(StrEnum):
    """Where a run stands among those of its account that are at work at once; see `slots`."""

    WANTED = "wanted"
    HELD = "held"


class Trigger(StrEnum):
    """What may happen to a run."""

    TAKE = "take"
    FIRST_TOKEN = "first_token"
    WAIT = "wait"
    FINISH = "finish"
    FAIL = "fail"
    CANCEL = "cancel"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use up: `steps` model calls with their tools, `seconds` of wall time outside waits for people."""

    steps: int
    seconds: int


@dataclass(frozen=True, slots=True)
class RunWebhook:
    """Where one run's announcements go besides, signed by the secret of the account's webhook of that name."""

    url: str
    signed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One task being done by one agent. Times are UTC.

    `attempt` counts the holds on the run and `start` its Step Functions executions; both only rise. `lease_until` is
    there while somebody holds the run. `due_at` says when a sweeper should look; a finished run has none. While the
    run waits, `waiting_for` says for what, `waiting_seq` is the `run.waiting` event, `wake_at` the time at which the
    wait gives up, `wake_seq` the event of the last answer, and `token` what wakes the execution. `asks` are the open
    approvals. `slot`: whether it is among the account's runs at work, or in line for that. `watched_until` is how long
    somebody may be assumed to follow the text. An old run is `archived_at`: from then on its archive is all that is
    left of its log. A run that its account has deleted is `deleted_at`: nobody sees it any more, and some time later it
    is erased. A run keeps the `agent_version` that it began with.
    """

    run_id: str
    account_id: str
    agent: str
    status: Status
    budget: Budget
    created_at: datetime
    metadata: Mapping[str, str] = field(default_factory=dict)
    webhook: RunWebhook | None = None
    agent_version: int = 1
    attempt: int = 0
    start: int = 0
    lease_until: datetime | None = None
    due_at: datetime | None = None
    waiting_for: str | None = None
    waiting_seq: int | None = None
    wake_at: datetime | None = None
    wake_seq: int | None = None
    token: str | None = None
    asks: tuple[str, ...] = ()
    slot: Slot | None = None
    watched_until: datetime | None = None
    first_token_at: datetime | None = None
    ended_at: datetime | None = None
    archived_at: datetime | None = None
    deleted_at: datetime | None = None
