"""The use cases as the search runs them: every one with the same `Ports`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.core import approvals
from chalicelib.core.approvals import Decision, Verdict
from chalicelib.core.errors import Conflict
from chalicelib.usecases.abandon import abandon
from chalicelib.usecases.admit import admit
from chalicelib.usecases.advance import advance
from chalicelib.usecases.await_answer import await_answer
from chalicelib.usecases.cancel import cancel
from chalicelib.usecases.put_back import put_back
from chalicelib.usecases.resolve import resolve
from chalicelib.usecases.sweep import sweep
from chalicelib.usecases.tend import free_stale
from chalicelib.usecases.work import Needs, Slice
from tests.model.puppet import Ports
from tests.model.say import say

RUN_ID = "run_00000000000000000000000001"
ACCOUNT = "acme"
LAMBDA_SECONDS = 36_000.0
"""More than any search lasts: when a Lambda ends is for the search to say, not for the clock."""


def _advance(ports: Ports, start: int, steps: int, lap: int) -> Any:
    needs = Needs(
        runs=ports,
        slots=ports,
        agents=ports,
        workflow=ports,
        model=ports,
        toolboxes=ports,
        policies=ports,
        clock=ports,
        chance=ports,
        crew=ports,
    )
    return advance(RUN_ID, start, lap, Slice(LAMBDA_SECONDS, steps), needs=needs)


def _await_answer(ports: Ports, start: int, token: str) -> Any:
    return await_answer(RUN_ID, start, token, runs=ports, workflow=ports)


def _abandon(ports: Ports, start: int) -> Any:
    settles: dict[str, Any] = {"runs": ports, "slots": ports, "workflow": ports, "clock": ports, "chance": ports}
    return abandon(RUN_ID, start, "KeyError", **settles)


def _put_back(ports: Ports, start: int) -> Any:
    return put_back(RUN_ID, start, runs=ports, workflow=ports, clock=ports)


def _sweep(ports: Ports) -> Any:
    """The tick, as far as it is about runs at work."""
    swept = sweep(runs=ports, slots=ports, workflow=ports, clock=ports, chance=ports)
    if not ports.crowded:
        return swept
    freed = free_stale(ACCOUNT, runs=ports, slots=ports)
    return swept, freed, _admit(ports)


def _admit(ports: Ports) -> Any:
    return admit(ACCOUNT, runs=ports, slots=ports, workflow=ports, clock=ports)


def _cancel(ports: Ports) -> Any:
    return cancel(
        RUN_ID,
        account_id=ACCOUNT,
        actor="key_1",
        reason=None,
        runs=ports,
        slots=ports,
        workflow=ports,
        clock=ports,
        chance=ports,
    )[0].status


def _say(ports: Ports) -> Any:
    return say("more", RUN_ID, runs=ports, workflow=ports, clock=ports, chance=ports)


def _decides(decision: Decision) -> Callable[[Ports], Any]:
    """A person who looks at what is asked, and answers it if that is an answer to it."""

    def decide(ports: Ports) -> Any:
        seen = approvals.open_in(ports.log(RUN_ID)[1])
        asked = next((each.data for each in seen if decision in each.data["choices"]), None)
        if asked is None:
            return "nothing to answer"
        verdict = Verdict(decision, asked["digest"])
        of: dict[str, Any] = {"agents": ports, "toolboxes": ports, "policies": ports, "runs": ports}
        world: dict[str, Any] = {"workflow": ports, "clock": ports, "chance": ports}
        try:
            return resolve(RUN_ID, asked["approval_id"], verdict, account_id=ACCOUNT, actor="key_1", **of, **world).seq
        except Conflict as conflict:
            return conflict.code

    return decide


ROLES: dict[str, Callable[..., Any]] = {
    "advance": _advance,
    "await answer": _await_answer,
    "abandon": _abandon,
    "put back": _put_back,
    "sweep": _sweep,
    "admit": _admit,
    "cancel": _cancel,
    "say": _say,
    "approve": _decides(Decision.APPROVE),
    "deny": _decides(Decision.DENY),
    "retry": _decides(Decision.RETRY),
}

NAMES = {
    "advance": "worker",
    "await answer": "waiter",
    "abandon": "abandoner",
    "put back": "rule",
    "sweep": "sweeper",
    "admit": "releaser",
    "cancel": "canceller",
    "say": "speaker",
    "approve": "approver",
    "deny": "denier",
    "retry": "retrier",
}
"""Who plays the role, in a trace."""
