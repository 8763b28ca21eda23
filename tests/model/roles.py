"""The use cases as the search runs them: every one with the same `Ports`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.advance import advance
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.work import Needs, Slice
from tests.model.puppet import Ports
from tests.model.say import say

RUN_ID = "run_00000000000000000000000001"
ACCOUNT = "acme"
LAMBDA_SECONDS = 36_000.0
"""More than any search lasts: when a Lambda ends is for the search to say, not for the clock."""


def _advance(ports: Ports, start: int, steps: int) -> Any:
    needs = Needs(
        runs=ports, agents=ports, workflow=ports, model=ports, toolboxes=ports, clock=ports, chance=ports, crew=ports
    )
    return advance(RUN_ID, start, 0, Slice(LAMBDA_SECONDS, steps), needs=needs)


def _await_answer(ports: Ports, start: int, token: str) -> Any:
    return await_answer(RUN_ID, start, token, runs=ports, workflow=ports)


def _abandon(ports: Ports, start: int) -> Any:
    return abandon(RUN_ID, start, "KeyError", runs=ports, clock=ports, chance=ports)


def _put_back(ports: Ports, start: int) -> Any:
    return put_back(RUN_ID, start, runs=ports, workflow=ports, clock=ports)


def _sweep(ports: Ports) -> Any:
    return sweep(runs=ports, workflow=ports, clock=ports, chance=ports)


def _cancel(ports: Ports) -> Any:
    return cancel(
        RUN_ID,
        account_id=ACCOUNT,
        actor="key_1",
        reason=None,
        runs=ports,
        workflow=ports,
        clock=ports,
        chance=ports,
    )[0].status


def _say(ports: Ports) -> Any:
    return say("more", RUN_ID, runs=ports, workflow=ports, clock=ports, chance=ports)


ROLES: dict[str, Callable[..., Any]] = {
    "advance": _advance,
    "await answer": _await_answer,
    "abandon": _abandon,
    "put back": _put_back,
    "sweep": _sweep,
    "cancel": _cancel,
    "say": _say,
}

NAMES = {
    "advance": "worker",
    "await answer": "waiter",
    "abandon": "abandoner",
    "put back": "rule",
    "sweep": "sweeper",
    "cancel": "canceller",
    "say": "speaker",
}
"""Who plays the role, in a trace."""
