"""What stands between a model and its tools: which it is shown, which calls are let through, and who is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.core import approvals
from chalicelib.core.agent import Agent
from chalicelib.core.approvals import Question
from chalicelib.core.events import Log
from chalicelib.core.facts import facts
from chalicelib.core.judge import judge, permits, visible
from chalicelib.core.permissions import Judgement, Layer, Ruling, of_data
from chalicelib.core.reply import ToolCall
from chalicelib.core.run import Run
from chalicelib.core.tools import Invocation, Stop, ToolSpec
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.policy_book import PolicyBook
from chalicelib.ports.toolbox import Toolbox, Toolboxes
from chalicelib.usecases.hold import Hold

NOT_ALLOWED = "This call is not allowed:"


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one run: its agent's tools, and the rules of everybody who has a say."""

    agent: Agent
    toolbox: Toolbox
    layers: tuple[Layer, ...]
    own: Layer
    """The run's own rules, which only narrow what the layers allow."""

    def shown(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is told of: what the run may never use is not shown."""
        return tuple(spec for spec in self.toolbox.specs(self.agent.tools) if visible(spec, (*self.layers, self.own)))

    def judge(self, call: ToolCall, log: Log) -> Judgement:
        """What becomes of a call; one that cannot be made as it stands is denied with what is wrong with it."""
        if (problem := self.toolbox.problem(call)) is not None:
            return Judgement(Ruling.DENY, problem)
        if call.name not in {spec.name for spec in self.toolbox.specs(self.agent.tools)}:
            return Judgement(Ruling.DENY, f"This agent has no tool {call.name}.")
        said = judge(call.name, self.toolbox.fields(call), self.spec(call), self.layers, facts(log), self.own)
        return replace(said, rule=f"{NOT_ALLOWED}\n{said.rule}") if said.ruling is Ruling.DENY else said

    def spec(self, call: ToolCall) -> ToolSpec:
        """The tool of a call that was let through: that of another version of the runtime, should it be gone."""
        return self.toolbox.spec(call.name) or ToolSpec(call.name, "", {})

    def invocation(self, call: ToolCall, deadline: datetime, stop: Stop, hold: Hold) -> Invocation:
        """The call as its tool gets it."""
        run, fields = hold.run, self.toolbox.fields(call)
        done = facts(hold.log, without=call.call_id)
        permitted = permits(fields, self.spec(call), self.layers, done, self.own)
        return Invocation(run.run_id, run.account_id, call, deadline, stop, permitted, done.marks)

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


def gate_of(run: Run, log: Log, *, agents: AgentBook, toolboxes: Toolboxes, policies: PolicyBook) -> Gate | None:
    """The gate before the run's tools: its agent's, in the version that the run began with, under its account's policy
    as it is now. None if the agent is gone."""
    agent = agents.find(run.account_id, run.agent, run.agent_version)
    if agent is None:
        return None
    above = (policies.policy(run.account_id).rules, agent.permissions)
    own = of_data(log[0].data.get("permissions", ()))
    return Gate(agent, toolboxes.of(run.account_id, agent), above, own)
