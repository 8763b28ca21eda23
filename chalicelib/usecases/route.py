"""Where a run's execution goes after `Advance`: the words that the state machine knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from chalicelib.core.run import Run, Status


class Next(StrEnum):
    CONTINUE = "continue"
    WAIT = "wait"
    ASK = "ask"
    END = "end"


@dataclass(frozen=True, slots=True)
class Route:
    """`seconds`: how long to wait, or after how long the question times out; at least one where it is asked for."""

    next: Next
    seconds: int = 0


END = Route(Next.END)
CONTINUE = Route(Next.CONTINUE)
A_MOMENT = Route(Next.WAIT, 2)


def of_unheld(run: Run, now: datetime) -> Route:
    """The route of a run that this execution does not hold: it may be over, in another's hands, or waiting."""
    if run.status.terminal:
        return END
    if run.status is Status.WAITING:
        return Route(Next.ASK, _seconds(now, run.wake_at))
    return Route(Next.WAIT, _seconds(now, run.lease_until))


def _seconds(now: datetime, until: datetime | None) -> int:
    """Whole seconds, rounded up: a wait that ends a moment too early would only be begun again."""
    return max(1, -int(-(until - now).total_seconds() // 1)) if until else 1
