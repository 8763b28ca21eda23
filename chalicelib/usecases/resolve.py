"""Answer a question that a run has asked a person."""

from __future__ import annotations

from chalicelib.core import approvals
from chalicelib.core.approvals import Decision, Verdict
from chalicelib.core.change import Change
from chalicelib.core.errors import Conflict, InvalidInput
from chalicelib.core.events import Event, Log, Stamp
from chalicelib.core.permissions import Ruling
from chalicelib.core.run import Run, Status
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.policy_book import PolicyBook
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.toolbox import Toolboxes
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.gate import Gate, gate_of
from chalicelib.usecases.put_answer import put_answer


def resolve(
    run_id: str,
    approval_id: str,
    verdict: Verdict,
    *,
    account_id: str,
    actor: str,
    runs: RunStore,
    agents: AgentBook,
    toolboxes: Toolboxes,
    policies: PolicyBook,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> Event:
    """The `approval.resolved` that stands: the first decision's. The same again is no fault, another one is.

    Raises `NotFound`, `InvalidInput` and `Conflict`.
    """

    def decide(run: Run, log: Log, stamp: Stamp) -> Change | Event:
        asked, standing = approvals.find(log, approval_id)
        approvals.check(verdict, asked)
        if standing is not None:
            return _the_same(verdict, asked, standing)
        _check_open(run, asked, stamp)
        if verdict.decision is Decision.EDIT:
            gate = gate_of(run, log, agents=agents, toolboxes=toolboxes, policies=policies)
            _check_edit(verdict, asked, log, gate)
        return approvals.resolve(run, asked, approvals.told(verdict, asked, actor), tail=log[-1].seq, stamp=stamp)

    return put_answer(run_id, decide, account_id=account_id, runs=runs, workflow=workflow, clock=clock, chance=chance)


def _check_open(run: Run, asked: Event, stamp: Stamp) -> None:
    if run.status.terminal or run.status is Status.CANCELLING:
        raise Conflict("run_over", f"the run is {run.status}, and asks nothing any more")
    if approvals.expired(asked, stamp.at):
        raise Conflict("approval_expired", f"the question was open until {asked.data['expires_at']}")


def _check_edit(verdict: Verdict, asked: Event, log: Log, gate: Gate | None) -> None:
    """An edited call is checked like any other; only that a person is asked about it, it has behind it."""
    judgement = gate.judge(approvals.edited_call(asked, verdict.args or {}), log) if gate else None
    if judgement is None or judgement.ruling is Ruling.DENY:
        detail = judgement.rule if judgement else "the run's agent is gone"
        raise InvalidInput("invalid_args", detail, field="args", expected="a call that the run may make")


def _the_same(verdict: Verdict, asked: Event, standing: Event) -> Event:
    if approvals.says_the_same(verdict, asked, standing):
        return standing
    raise Conflict("approval_decided", f"the decision was {standing.data['decision']}, by {standing.data['by']}")
