"""A task becomes a run, once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from chalicelib.adapters.agents import Agents
from chalicelib.adapters.built_in_agents import built_in
from chalicelib.adapters.tools.current_time import current_time
from chalicelib.adapters.tools.toolbox import FunctionToolbox, Shared
from chalicelib.core import lease
from chalicelib.core.errors import InvalidInput, KeyReused, Unavailable, WorkflowUnavailable
from chalicelib.core.events import OUTSIDE, EventType
from chalicelib.core.lease import UNHELD_GRACE
from chalicelib.core.run import Status
from chalicelib.core.task import Task
from chalicelib.ports.agent_store import AgentStore
from chalicelib.ports.file_store import FileStore
from chalicelib.ports.run_store import RunStore
from chalicelib.ports.upload_store import UploadStore
from chalicelib.usecases.submit import Submitted, submit
from tests.usecases.rival import beaten
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import CountedChance, VirtualTime

TASK = Task("demo", "Analyse market data", {"team": "research"}, steps=3)


@dataclass
class Counter:
    """Where tasks are handed in."""

    runs: RunStore
    own_agents: AgentStore
    uploads: UploadStore
    files: FileStore
    workflow: RecordingWorkflow = field(default_factory=RecordingWorkflow)
    time: VirtualTime = field(default_factory=VirtualTime)
    chance: CountedChance = field(default_factory=CountedChance)

    def submit(
        self, task: Task = TASK, key: str | None = None, *, account_id: str = "acme", runs: RunStore | None = None
    ) -> Submitted:
        return submit(
            task,
            account_id=account_id,
            idempotency_key=key,
            runs=runs or self.runs,
            agents=Agents(built_in(None), self.own_agents),
            toolboxes=Shared(FunctionToolbox([current_time(self.time)])),
            uploads=self.uploads,
            files=self.files,
            workflow=self.workflow,
            clock=self.time,
            chance=self.chance,
        )


@pytest.fixture
def counter(runs: RunStore, own_agents: AgentStore, uploads: UploadStore, files: FileStore) -> Counter:
    return Counter(runs, own_agents, uploads, files)


def test_a_run_and_its_first_event_stand_together_and_its_first_start_is_counted(counter: Counter) -> None:
    run = counter.submit().run

    found = counter.runs.tail(run.run_id)
    assert found is not None
    assert found[0] == run
    assert (run.status, run.start, run.attempt) == (Status.PENDING, 1, 0)
    assert run.due_at == run.created_at + UNHELD_GRACE
    first = found[1]
    assert (first.seq, first.type, first.attempt) == (0, EventType.RUN_ACCEPTED, OUTSIDE)
    assert first.data == {
        "version": 0,
        "agent": "demo",
        "text": "Analyse market data",
        "metadata": {"team": "research"},
        "budget": {"steps": 3, "seconds": 3600},
    }
    assert counter.workflow.started == [(run.run_id, 1)]


def test_a_start_that_was_refused_is_left_to_the_sweeper(counter: Counter) -> None:
    counter.workflow.refuses = WorkflowUnavailable("down")

    run = counter.submit().run

    assert [due.run_id for due in counter.runs.due(counter.time.now() + timedelta(minutes=2), 10)] == [run.run_id]


def test_of_two_requests_with_one_key_at_the_same_moment_both_get_the_one_run(counter: Counter) -> None:
    rivals: list[Submitted] = []
    runs = beaten(counter.runs, "create", lambda: rivals.append(counter.submit(key="once")))

    mine = counter.submit(key="once", runs=runs)

    [theirs] = rivals
    assert mine.run == theirs.run
    assert (theirs.replayed, mine.replayed) == (False, True)
    listed, _ = counter.runs.of_account("acme", None, 10, None)
    assert [run.run_id for run in listed] == [mine.run.run_id]
    assert {*counter.workflow.started} == {(mine.run.run_id, 1)}


def test_of_two_tasks_with_one_key_at_the_same_moment_one_is_refused(counter: Counter) -> None:
    runs = beaten(counter.runs, "create", lambda: counter.submit(Task("demo", "Something else"), "once"))

    with pytest.raises(KeyReused) as refusal:
        counter.submit(key="once", runs=runs)

    assert refusal.value.code == "idempotency_key_reused"
    listed, _ = counter.runs.of_account("acme", None, 10, None)
    assert len(listed) == 1


def test_asking_again_begins_a_run_whose_start_was_refused_before(counter: Counter) -> None:
    counter.workflow.refuses = WorkflowUnavailable("down")
    run = counter.submit(key="once").run
    counter.workflow.refuses = None

    counter.submit(key="once")

    assert counter.workflow.started == [(run.run_id, 1)]


def test_asking_again_for_a_run_that_goes_on_begins_nothing(counter: Counter) -> None:
    run = counter.submit(key="once").run
    counter.runs.commit(lease.take(run, tail=0, now=counter.time.now(), write_id="taken"))

    again = counter.submit(key="once")

    assert (again.run.status, again.replayed) == (Status.RUNNING, True)
    assert counter.workflow.started == [(run.run_id, 1)]


def test_an_unknown_agent_is_refused_with_the_known_ones(counter: Counter) -> None:
    with pytest.raises(InvalidInput) as refusal:
        counter.submit(Task("nobody", "go"))

    assert (refusal.value.code, refusal.value.expected) == (
        "unknown_agent",
        "one of: demo, demo-analyst, demo-assistant, demo-researcher",
    )


def test_a_run_that_could_not_be_kept_is_not_begun(counter: Counter) -> None:
    def gone() -> None:
        raise Unavailable("down")

    with pytest.raises(Unavailable):
        counter.submit(runs=beaten(counter.runs, "create", gone))

    assert counter.workflow.started == []


def test_a_run_s_own_rules_are_fixed_with_its_first_event(counter: Counter) -> None:
    run = counter.submit(Task("demo", "go", permissions=["allow current_time max 3"])).run
    found = counter.runs.tail(run.run_id)
    assert found is not None
    assert found[1].data["permissions"] == [{"effect": "allow", "tool": "current_time", "limit": {"calls": 3}}]


def test_a_rule_about_a_tool_that_the_agent_does_not_have_is_refused_and_nothing_stands(counter: Counter) -> None:
    with pytest.raises(InvalidInput) as refused:
        counter.submit(Task("demo", "go", permissions=["allow http_gte"]))
    assert (refused.value.code, refused.value.field) == ("invalid_permission", "permissions[0]")
    assert counter.runs.of_account("acme", None, 10, None) == ([], None)
