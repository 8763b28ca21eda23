"""The states of the agent loop, as Step Functions calls them, and the minute's tick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from chalice.test import Client

from app import app
from chalicelib.bootstrap import World
from chalicelib.core import lease
from chalicelib.core.run import Run, Status, Trigger
from chalicelib.handlers import clock, workflow
from tests.builders import RUN_ID, a_move, a_run, accepted
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import EPOCH, VirtualTime


@pytest.fixture
def run(world: World) -> Run:
    made = a_run(created_at=EPOCH, due_at=EPOCH + lease.UNHELD_GRACE)
    world.runs.create(made, accepted(), None)
    return made


def invoke(name: str, event: dict[str, Any]) -> Any:
    with Client(app) as client:
        return client.lambda_.invoke(name, event).payload


@dataclass
class Context:
    """What Lambda tells of its time."""

    seconds: float

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


def status(world: World) -> Status:
    found = world.runs.tail(RUN_ID)
    assert found is not None
    return found[0].status


def test_a_slice_of_a_short_run_does_it_all_and_ends_the_execution(run: Run, world: World) -> None:
    answer = workflow.advance({"run_id": RUN_ID, "start": 1, "lap": 4}, Context(900))

    assert answer == {"run_id": RUN_ID, "start": 1, "lap": 5, "next": "end", "seconds": 0}
    assert status(world) is Status.DONE


def test_a_lambda_without_time_for_a_model_call_hands_the_run_back(run: Run, world: World) -> None:
    answer = workflow.advance({"run_id": RUN_ID, "start": 1, "lap": 4}, Context(60))

    assert (answer["next"], answer["lap"], status(world)) == ("continue", 5, Status.RUNNING)


def test_an_execution_older_than_the_runs_touches_nothing(run: Run, world: World) -> None:
    answer = invoke("advance", {"run_id": RUN_ID, "start": 0, "lap": 0})

    assert (answer["next"], status(world)) == ("end", Status.PENDING)


def test_a_run_in_anothers_hands_is_waited_for(run: Run, world: World) -> None:
    world.runs.commit(lease.take(run, tail=0, now=EPOCH, write_id="taken"))

    answer = invoke("advance", {"run_id": RUN_ID, "start": 1, "lap": 0})

    assert (answer["next"], answer["seconds"]) == ("wait", 30)


def test_a_waiting_runs_token_is_kept_and_another_ones_wait_is_ended(
    run: Run, world: World, executions: RecordingWorkflow
) -> None:
    taken = lease.take(run, tail=0, now=EPOCH, write_id="taken")
    world.runs.commit(taken)
    world.runs.commit(a_move(taken.after, Trigger.WAIT, tail=1, waiting_for="provider", waiting_seq=2))

    invoke("await_answer", {"run_id": RUN_ID, "start": 1, "lap": 0, "token": "kept"})
    invoke("await_answer", {"run_id": RUN_ID, "start": 0, "lap": 0, "token": "old"})

    found = world.runs.tail(RUN_ID)
    assert found is not None
    assert (found[0].token, executions.woken) == ("kept", ["old"])


@pytest.mark.parametrize(("error", "left"), [("KeyError", Status.FAILED), ("Lambda.ServiceException", Status.PENDING)])
def test_an_execution_that_gives_up_settles_its_run_unless_it_was_the_platform(
    error: str, left: Status, run: Run, world: World
) -> None:
    invoke("abandon", {"run_id": RUN_ID, "start": 1, "error": {"Error": error, "Cause": "…"}})

    assert status(world) is left


def ended(name: str) -> dict[str, Any]:
    return {
        "version": "0",
        "id": "1",
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": "123456789012",
        "time": "2026-01-01T00:00:00Z",
        "region": "eu-central-1",
        "resources": [],
        "detail": {"name": name, "status": "TIMED_OUT"},
    }


def test_a_run_whose_execution_has_ended_under_it_gets_a_new_one(run: Run, executions: RecordingWorkflow) -> None:
    invoke("execution_ended", ended(f"{RUN_ID}-1"))

    assert executions.started == [(RUN_ID, 2)]


@pytest.mark.parametrize("name", [f"{RUN_ID}-0", f"{RUN_ID}-x", "by-hand", "7"])
def test_the_end_of_another_execution_changes_nothing(name: str, run: Run, executions: RecordingWorkflow) -> None:
    invoke("execution_ended", ended(name))

    assert executions.started == []


def test_the_tick_starts_a_run_that_nobody_started(run: Run, time: VirtualTime, executions: RecordingWorkflow) -> None:
    tick = {**ended("x"), "detail-type": "Scheduled Event", "source": "aws.events", "detail": {}}
    invoke("tick", tick)
    assert executions.started == []

    time.advance(120)
    # Chalice's own client gives a Lambda three seconds: none of the tick's jobs begins anything in so short a time.
    clock.tick(tick, Context(60))

    assert executions.started == [(RUN_ID, 2)]
