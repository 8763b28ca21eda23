"""Accept a task: a run, its first event and its start."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from chalicelib.core import grants, ids, lease, recipe, task
from chalicelib.core.account import owned
from chalicelib.core.agent import Agent
from chalicelib.core.change import record
from chalicelib.core.cursor import START
from chalicelib.core.errors import InvalidInput, KeyReused, WorkflowUnavailable
from chalicelib.core.events import OUTSIDE, EventType, Stamp
from chalicelib.core.permissions import Grant, to_data
from chalicelib.core.run import Run, Status
from chalicelib.core.task import Task
from chalicelib.core.tools import FileRef
from chalicelib.ports.agent_book import AgentBook
from chalicelib.ports.chance import Chance
from chalicelib.ports.clock import Clock
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.run_store import Claim, KeyTaken, RunStore
from chalicelib.ports.toolbox import Toolboxes
from chalicelib.ports.upload_store import UploadStore
from chalicelib.ports.workflow import Workflow
from chalicelib.usecases.give_files import give

KEY_COUNTS_FOR = timedelta(hours=24)
"""How long an idempotency key is remembered."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Submitted:
    """`replayed`: the idempotency key had made this run before."""

    run: Run
    replayed: bool


def submit(
    asked: Task,
    *,
    account_id: str,
    idempotency_key: str | None,
    runs: RunStore,
    agents: AgentBook,
    toolboxes: Toolboxes,
    uploads: UploadStore,
    files: FileStore,
    workflow: Workflow,
    clock: Clock,
    chance: Chance,
) -> Submitted:
    """Make the task's run, once per idempotency key. Raises `InvalidInput` and `KeyReused`."""
    agent = _agent(asked.agent, account_id, agents)
    now = clock.now()
    run = _run(asked, agent, account_id, now, chance)
    stamp = Stamp(now, OUTSIDE, chance.write_id())
    rules = _rules(asked, account_id, agent, toolboxes)
    given = give(run, asked.files, now, uploads=uploads, files=files)
    first = record(EventType.RUN_ACCEPTED, _accepted(asked, run, rules, given), tail=START, stamp=stamp)
    try:
        runs.create(run, first, _claim(asked, idempotency_key, now))
    except KeyTaken as taken:
        if given:
            files.delete_of_run(run.run_id)
        run = _same_again(asked, account_id, taken, runs)
        _begin(run, workflow)
        return Submitted(run, replayed=True)
    _begin(run, workflow)
    return Submitted(run, replayed=False)


def _agent(name: str, account_id: str, agents: AgentBook) -> Agent:
    agent = agents.find(account_id, name) if recipe.is_name(name) else None
    if agent is None:
        known = ", ".join(agent.name for agent in agents.all(account_id))
        raise InvalidInput(
            "unknown_agent", "there is no agent of that name", field="agent", expected=f"one of: {known}"
        )
    return agent


def _run(asked: Task, agent: Agent, account_id: str, now: datetime, chance: Chance) -> Run:
    return Run(
        run_id=ids.run_id(now, chance.bytes(10)),
        account_id=account_id,
        agent=agent.name,
        agent_version=agent.version,
        status=Status.PENDING,
        budget=task.budget(asked, agent),
        created_at=now,
        metadata=asked.metadata,
        webhook=asked.webhook,
        start=1,
        due_at=now + lease.UNHELD_GRACE,
    )


def _rules(asked: Task, account_id: str, agent: Agent, toolboxes: Toolboxes) -> tuple[Grant, ...]:
    """The run's own rules: they only ever narrow what account and agent allow."""
    if not asked.permissions:
        return ()
    specs = toolboxes.of(account_id, agent).specs(agent.tools)
    return grants.parse(list(asked.permissions), field="permissions", specs=specs)


def _accepted(asked: Task, run: Run, rules: tuple[Grant, ...], given: Sequence[FileRef]) -> Mapping[str, Any]:
    return {
        "agent": run.agent,
        "version": run.agent_version,
        "text": asked.text,
        "metadata": dict(run.metadata),
        "budget": asdict(run.budget),
        **({"permissions": to_data(rules)} if rules else {}),
        **({"files": [asdict(file) for file in given]} if given else {}),
    }


def _claim(asked: Task, key: str | None, now: datetime) -> Claim | None:
    return Claim(key, task.digest(asked), now + KEY_COUNTS_FOR) if key is not None else None


def _same_again(asked: Task, account_id: str, taken: KeyTaken, runs: RunStore) -> Run:
    if taken.payload_digest != task.digest(asked):
        detail = f"the key came before with another task, which became {taken.run_id}"
        raise KeyReused("idempotency_key_reused", detail, field="Idempotency-Key", expected="a key of its own")
    found = runs.tail(taken.run_id)
    return owned(found[0] if found else None, account_id)


def _begin(run: Run, workflow: Workflow) -> None:
    """The run is accepted either way: a start that was refused, or never asked for, is made up for by the sweeper."""
    if run.status is not Status.PENDING:
        return
    try:
        workflow.start(run.run_id, run.start)
    except WorkflowUnavailable:
        log.warning("start refused, the sweeper will try again", extra={"action": "submit", "run_id": run.run_id})
