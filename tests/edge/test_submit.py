"""`POST /v1/runs?stream=true`: the run and its stream in one answer."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from httpx_sse import EventSource

from chalicelib.adapters.dynamodb.agent_store import DynamoAgentStore
from chalicelib.adapters.dynamodb.file_store import DynamoFileStore
from chalicelib.adapters.dynamodb.run_store import DynamoRunStore
from chalicelib.adapters.dynamodb.upload_store import DynamoUploadStore
from chalicelib.bootstrap import World
from chalicelib.core.events import EventType
from chalicelib.core.run import Trigger
from tests.builders import a_move
from tests.edge.memory_log import MemoryLog
from tests.edge.serving import KEY, a_world, serving
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import CountedChance, VirtualTime

TASK = {"agent": "demo", "text": "go"}
STREAMED = "/v1/runs?stream=true"


@pytest.fixture
def world(
    runs: DynamoRunStore, own_agents: DynamoAgentStore, uploads: DynamoUploadStore, files: DynamoFileStore
) -> World:
    made = a_world(MemoryLog())
    made.own_agents, made.uploads, made.files = own_agents, uploads, files
    made.clock, made.chance, made.runs, made.workflow = VirtualTime(), CountedChance(), runs, RecordingWorkflow()
    return made


@pytest.fixture
def client(world: World) -> Iterator[httpx.Client]:
    with (
        serving(world) as (url, _),
        httpx.Client(base_url=url, headers={"Authorization": KEY}, timeout=10, trust_env=False) as client,
    ):
        yield client


def cancel(world: World, run_id: str) -> None:
    found = world.runs.tail(run_id)
    assert found is not None
    world.runs.commit(a_move(found[0], Trigger.CANCEL, tail=found[1].seq))


def test_the_answer_is_the_stream_and_its_location_names_the_run(client: httpx.Client, world: World) -> None:
    with client.stream("POST", STREAMED, json=TASK) as answer:
        run_id = answer.headers["Location"].removeprefix("/v1/runs/")
        types = []
        for event in EventSource(answer).iter_sse():
            types.append(event.event)
            if event.event == EventType.RUN_ACCEPTED:
                cancel(world, run_id)

    assert answer.status_code == 200
    assert types == ["run.accepted", "run.cancelled"]
    assert world.runs.tail(run_id) is not None


def test_sent_again_with_its_key_and_cursor_it_goes_on(client: httpx.Client, world: World) -> None:
    key = {"Idempotency-Key": "one"}
    with client.stream("POST", STREAMED, json=TASK, headers=key) as first:
        accepted = next(EventSource(first).iter_sse())
    cancel(world, first.headers["Location"].removeprefix("/v1/runs/"))

    again = client.post(STREAMED, json=TASK, headers={**key, "Last-Event-ID": accepted.id})

    assert (again.headers["Location"], again.headers["Idempotent-Replayed"]) == (first.headers["Location"], "true")
    assert [event.id for event in EventSource(again).iter_sse()] == ["1"]


@pytest.mark.parametrize(
    ("path", "body", "secret", "status", "code"),
    [
        (STREAMED, {"agent": "demo"}, "pawl_acme", 400, "missing_field"),
        (STREAMED, {**TASK, "agent": "nobody"}, "pawl_acme", 400, "unknown_agent"),
        (STREAMED, TASK, "pawl_blind", 403, "scope_missing"),
        (STREAMED, TASK, "pawl_nobody", 401, "unauthenticated"),
        ("/v1/runs", TASK, "pawl_acme", 404, "not_found"),
        (f"{STREAMED}&limit=1", TASK, "pawl_acme", 400, "unknown_field"),
        ("/v1/runs?stream=yes", TASK, "pawl_acme", 400, "invalid_stream"),
        ("/v1/runs?stream=", TASK, "pawl_acme", 400, "invalid_stream"),
        ("/v1/runs?stream=false", TASK, "pawl_acme", 404, "not_found"),
    ],
)
def test_what_cannot_be_meant_makes_no_run(
    path: str, body: dict[str, str], secret: str, status: int, code: str, client: httpx.Client, world: World
) -> None:
    answer = client.post(path, json=body, headers={"Authorization": f"Bearer {secret}"})

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert world.runs.of_account("acme", None, 10, None)[0] == []


def test_a_body_without_an_end_is_refused_as_api_gateway_does_it(client: httpx.Client, world: World) -> None:
    largest = b" " * 10 * 1024 * 1024

    answer, fits = client.post(STREAMED, content=largest + b" "), client.post(STREAMED, content=largest)

    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")
    assert fits.json()["code"] == "invalid_json"
    assert world.runs.of_account("acme", None, 10, None)[0] == []


def test_a_cursor_that_cannot_be_meant_makes_no_run(client: httpx.Client, world: World) -> None:
    answer = client.post(STREAMED, json=TASK, headers={"Last-Event-ID": "x"})

    assert answer.json()["code"] == "since_not_a_number"
    assert world.runs.of_account("acme", None, 10, None)[0] == []
