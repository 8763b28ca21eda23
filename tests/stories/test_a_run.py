"""Whole runs through the local cloud: the packaged functions, the real state machine, sockets."""

from __future__ import annotations

from chalicelib import bootstrap
from tests.patience import await_true
from tests.stories.conftest import OpenTown


def test_a_run_is_submitted_followed_and_done(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("brief")
    events = place.follow(run_id)
    assert [event["seq"] for event in events] == [*range(len(events))]
    assert events[-1]["data"] == {"output": {"text": "All is well."}}
    assert place.http.get(f"/v1/runs/{run_id}").json()["status"] == "done"
    assert place.states_entered(run_id) == ["Advance", "Route", "Done"]


def test_twenty_steps_are_under_five_state_transitions(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("twenty")
    steps = [event for event in place.follow(run_id) if event["type"] == "step.started"]
    assert len(steps) == 20
    assert len(place.states_entered(run_id)) < 5


def test_with_a_slice_of_one_each_step_is_one_advance_of_the_execution(town: OpenTown) -> None:
    place = town(STEPS_PER_SLICE="1")
    run_id = place.submit("five")
    place.follow(run_id)
    assert place.states_entered(run_id).count("Advance") == 5


def test_an_account_that_may_have_one_run_at_work_has_one_and_the_next_begins_when_it_ends(town: OpenTown) -> None:
    place = town(RUNS_AT_ONCE="1")
    first = place.submit("slow")
    place.follow(first, until=lambda event: event["type"] == "text.delta")
    second = place.submit("brief")
    await_true(lambda: place.http.get(f"/v1/runs/{second}").json()["waiting_for"] == "slot", seconds=20)

    place.cancel(first)

    ended, begun = place.follow(first)[-1], place.follow(second)
    assert begun[1]["type"] == "run.started"
    assert begun[1]["at"] >= ended["at"]
    assert begun[-1]["type"] == "run.done"
    assert place.states_entered(second) == ["Advance", "Route", "Done"]


def test_a_cancel_half_way_ends_the_run_and_its_execution(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("slow")
    place.follow(run_id, until=lambda event: event["type"] == "text.delta")
    assert place.cancel(run_id).status_code == 202
    end = place.follow(run_id)[-1]
    assert end["type"] == "run.cancelled"
    assert end["data"]["latency_ms"] < 2500
    assert place.states_entered(run_id)[-1] == "Done"
    again = place.cancel(run_id)
    assert (again.status_code, again.json()["status"]) == (200, "cancelled")


def test_a_silent_model_does_not_keep_a_cancel_waiting(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("silent")
    place.follow(run_id, until=lambda event: event["type"] == "step.started")
    place.cancel(run_id)
    assert place.follow(run_id)[-1]["data"]["latency_ms"] < 2500


def test_the_cancel_of_a_waiting_run_leaves_no_execution_behind(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("down")
    place.follow(run_id, until=lambda event: event["type"] == "run.waiting")
    assert place.cancel(run_id).json()["status"] == "cancelled"
    assert place.states_entered(run_id)[-1] == "Done"
    running = place.sfn.list_executions(
        stateMachineArn=place.sfn.list_state_machines()["stateMachines"][0]["stateMachineArn"], statusFilter="RUNNING"
    )
    assert running["executions"] == []


def started(run_id: str) -> int:
    """How many executions the run was given."""
    found = bootstrap.world().runs.tail(run_id)
    return found[0].start if found else 0


def test_a_run_whose_execution_is_stopped_under_it_gets_another_one_and_ends(town: OpenTown) -> None:
    place = town()
    run_id = place.submit("down")
    place.follow(run_id, until=lambda event: event["type"] == "run.waiting")
    place.sfn.stop_execution(executionArn=place.arn(run_id))
    await_true(lambda: started(run_id) == 2, seconds=30)
    assert place.cancel(run_id).json()["status"] == "cancelled"
    assert place.states_entered(run_id, start=2)[-1] == "Done"
