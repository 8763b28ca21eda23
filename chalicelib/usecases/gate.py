"""What stands between a model and its tools: which it is shown, which calls are let through, and who is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.core import approvals
from chalicelib.core.agent import Agent
from chalicelib.core.approvals import Question
from chalicelib.core.events import Log
from chalicelib.core.permissions import Judgement, Ruling
from chalicelib.core.reply import ToolCall
from chalicelib.core.run import Run
from chalicelib.core.tools import Invocation, Risk, Stop, ToolSpec
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.toolbox import Toolbox, Toolboxes
from chalicelib.usecases.hold import Hold


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one run: its agent's tools, and the rules for them."""

    agent: Agent
    toolbox: Toolbox

    def shown(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is told of."""
        return self.toolbox.specs(self.agent.tools)

    def judge(self, call: ToolCall, log: Log) -> Judgement:
        """What becomes of a call; one that cannot be made as it stands is denied with what is wrong with it."""
        if (problem := self.toolbox.problem(call)) is not None:
            return Judgement(Ruling.DENY, problem)
        spec = self.toolbox.spec(call.name)
        assert spec is not None, "a call without a problem is one of a tool that is there"
        if spec.risk >= Risk.CHANGES and not any(g.tool == spec.name and g.preapproved for g in self.agent.permissions):
            return Judgement(Ruling.ASK, f"{spec.name} is risky")
        return Judgement(Ruling.ALLOW, "")

    def spec(self, call: ToolCall) -> ToolSpec:
        """The tool of a call that was let through: that of another version of the runtime, should it be gone."""
        return self.toolbox.spec(call.name) or ToolSpec(call.name, "", {})

    def invocation(self, call: ToolCall, deadline: datetime, stop: Stop, hold: Hold) -> Invocation:
        """The call as its tool gets it."""
        run = hold.run
        return Invocation(run.run_id, run.account_id, call, deadline, stop, permits=lambda fields: True)

    def ask(self, call: ToolCall, question: Question, rule: str, hold: Hold) -> None:
        """Put the call before a person. Raises `Overtaken` if the log went on without it."""
        change = approvals.ask(
            hold.run,
            call,
            question=question,
            rule=rule,
            preview=self.toolbox.preview(call),
            expires_at=hold.clock.now() + timedelta(seconds=self.agent.answer_within),
            on_expiry=self.agent.on_expiry,
            tail=hold.tail,
            stamp=hold.stamp(),
        )
        hold.put(change)


def gate_of(run: Run, *, agents: AgentBook, toolboxes: Toolboxes) -> Gate | None:
    """The gate before the run's tools: its agent's, in the version that the run began with. None if that is gone."""
    agent = agents.find(run.account_id, run.agent, run.agent_version)
    return Gate(agent, toolboxes.of(run.account_id, agent)) if agent else None
