"""What ends a wait from outside: a decision, a message, a result. DESIGN sections 4 and 11.4.

Answer and task token cross in every order. So the answer is one transaction of event and run, the token is read
strongly after it, and a token is kept only while the wait it belongs to has no answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chalicelib.core.change import NOBODY_MOVED_IT, Change, record
from chalicelib.core.events import EventType, Stamp
from chalicelib.core.run import Run, Status

GUARDS = (*NOBODY_MOVED_IT, "waiting_seq", "wake_seq")
"""The wait that is answered must be the one that was read, and without an answer since."""


def answer(run: Run, type: EventType, data: Mapping[str, Any], *, tail: int, stamp: Stamp) -> Change:
    """The waiting run with its answer. It is due at once: whoever dies before waking it leaves that to the sweeper."""
    event = record(type, data, tail=tail, stamp=stamp)
    return Change(run, replace(run, wake_seq=event.seq, due_at=stamp.at), event, GUARDS)


def answered(run: Run) -> bool:
    """Whether a waiting run has what it waits for."""
    if run.status is not Status.WAITING or run.wake_seq is None or run.waiting_seq is None:
        return False
    return run.wake_seq > run.waiting_seq
