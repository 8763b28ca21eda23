"""Submit, look, list, cancel: what goes in and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.bootstrap import World
from chalicelib.core import lease
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Unavailable, WorkflowUnavailable
from chalicelib.core.run import Trigger
from tests.builders import a_move
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import Answer, Door
from tests.usecases.workshop import RecordingWorkflow
from tests.virtual_time import VirtualTime

TASK = {"agent": "demo", "text": "Analyse market data"}


def submitted(door: Door, **more: Any) -> str:
    return str(door.post("/v1/runs", TASK | more).body["run_id"])


def begun(world: World, run_id: str) -> None:
    """A worker takes the run."""
    found = world.runs.tail(run_id)
    assert found is not None
    world.runs.commit(lease.take(found[0], tail=found[1].seq, now=world.clock.now(), write_id="taken"))


def test_a_task_becomes_a_pending_run_and_its_place_is_told(door: Door, executions: RecordingWorkflow) -> None:
    answer = door.post("/v1/runs", TASK)

    run_id = answer.body["run_id"]
    assert (answer.status, answer.headers["Location"]) == (202, f"/v1/runs/{run_id}")
    assert answer.body == {
        "run_id": run_id,
        "agent": "demo",
        "status": "pending",
        "created_at": "2026-01-01T00:00:00.000Z",
    }
    assert executions.started == [(run_id, 1)]


def test_what_was_asked_for_is_the_first_event(door: Door) -> None:
    run_id = submitted(door, metadata={"team": "research"}, budget={"steps": 3})

    [first] = door.get(f"/v1/runs/{run_id}/events").body["events"]
    assert (first["seq"], first["type"]) == (0, "run.accepted")
    assert first["data"] == {
        "agent": "demo",
        "version": 0,
        "text": "Analyse market data",
        "metadata": {"team": "research"},
        "budget": {"steps": 3, "seconds": 3600},
    }


def test_an_optional_field_may_be_null(door: Door) -> None:
    assert door.post("/v1/runs", TASK | {"metadata": None, "budget": None}).status == 202


def test_a_run_is_accepted_though_step_functions_takes_no_start(door: Door, executions: RecordingWorkflow) -> None:
    executions.refuses = WorkflowUnavailable("down")

    assert door.post("/v1/runs", TASK).status == 202


BAD_TASKS: list[tuple[str, Any, str, str | None]] = [
    ("no JSON", b"{agent: demo}", "invalid_json", None),
    ("nothing", b"", "invalid_json", None),
    ("cut off", b'{"agent": "demo", "te', "invalid_json", None),
    ("not UTF-8", b'{"agent": "demo", "text": "\xff"}', "invalid_json", None),
    ("UTF-16", '{"agent": "demo", "text": "go"}'.encode("utf-16"), "invalid_json", None),
    ("half a character", rb'{"agent": "demo", "text": "\ud83d"}', "invalid_json", None),
    ("Python's NaN", b'{"agent": "demo", "text": NaN}', "invalid_json", None),
    ("too deep", b"[" * 100_000, "invalid_json", None),
    ("a list", [TASK], "wrong_type", None),
    ("a string", "demo", "wrong_type", None),
    ("null", b"null", "wrong_type", None),
    ("no agent", {"text": "go"}, "missing_field", "agent"),
    ("no text", {"agent": "demo"}, "missing_field", "text"),
    ("null for text", {"agent": "demo", "text": None}, "wrong_type", "text"),
    ("a number for text", {"agent": "demo", "text": 7}, "wrong_type", "text"),
    ("a list for an agent", {"agent": ["demo"], "text": "go"}, "wrong_type", "agent"),
    ("a string for metadata", TASK | {"metadata": "x"}, "wrong_type", "metadata"),
    ("a list for a budget", TASK | {"budget": [3]}, "wrong_type", "budget"),
    ("true for steps", TASK | {"budget": {"steps": True}}, "wrong_type", "budget.steps"),
    ("half a step", TASK | {"budget": {"steps": 1.5}}, "wrong_type", "budget.steps"),
    ("an unknown field", TASK | {"agents": "demo"}, "unknown_field", "agents"),
    ("an unknown budget", TASK | {"budget": {"usd": 1}}, "unknown_field", "budget.usd"),
    ("a string for rules", TASK | {"permissions": "allow *"}, "wrong_type", "permissions"),
    ("a rule for nobody's tool", TASK | {"permissions": ["deny rm"]}, "invalid_permission", "permissions[0]"),
    ("an unknown agent", TASK | {"agent": "nobody"}, "unknown_agent", "agent"),
    ("an empty text", TASK | {"text": " \n"}, "text_empty", "text"),
    ("a long text", TASK | {"text": "é" * 8193}, "text_too_long", "text"),
    ("no steps", TASK | {"budget": {"steps": 0}}, "invalid_budget", "budget.steps"),
    ("two days", TASK | {"budget": {"seconds": 172_800}}, "invalid_budget", "budget.seconds"),
    ("a number for a tag", TASK | {"metadata": {"team": 7}}, "invalid_metadata", "metadata.team"),
    ("17 tags", TASK | {"metadata": {str(tag): "" for tag in range(17)}}, "invalid_metadata", "metadata"),
]


@pytest.mark.parametrize(
    ("body", "code", "field"), [case[1:] for case in BAD_TASKS], ids=[case[0] for case in BAD_TASKS]
)
def test_a_bad_task_is_refused_with_its_own_code_and_leaves_nothing_behind(
    body: Any, code: str, field: str | None, door: Door, contents: Contents, executions: RecordingWorkflow
) -> None:
    before = contents()

    answer = door.post("/v1/runs", body)

    assert (answer.status, answer.code, answer.body.get("field")) == (400, code, field)
    assert contents() == before
    assert executions.started == []


def test_an_unknown_agent_is_answered_with_the_agents_there_are(door: Door) -> None:
    assert door.post("/v1/runs", TASK | {"agent": "nobody"}).body["expected"] == "one of: demo, demo-researcher"


def test_a_body_that_is_no_json_by_its_type_is_refused(door: Door, contents: Contents) -> None:
    before = contents()

    answer = door.post("/v1/runs", TASK, Content_Type="application/x-www-form-urlencoded")

    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert contents() == before


def test_the_same_key_and_task_are_the_same_run(door: Door, contents: Contents, executions: RecordingWorkflow) -> None:
    first = door.post("/v1/runs", TASK, Idempotency_Key="once")
    before = contents()

    again = door.post("/v1/runs", TASK, Idempotency_Key="once")

    assert (again.status, again.body) == (202, first.body)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert contents() == before
    assert {*executions.started} == {(first.body["run_id"], 1)}


def test_a_key_is_the_same_bare_and_quoted(door: Door) -> None:
    first = door.post("/v1/runs", TASK, Idempotency_Key='say "hello"')

    again = door.post("/v1/runs", TASK, Idempotency_Key=r'"say \"hello\""')

    assert again.body["run_id"] == first.body["run_id"]


def test_the_same_key_with_another_task_is_refused(door: Door, contents: Contents) -> None:
    door.post("/v1/runs", TASK, Idempotency_Key="once")
    before = contents()

    answer = door.post("/v1/runs", TASK | {"text": "Something else"}, Idempotency_Key="once")

    assert (answer.status, answer.code, answer.body["field"]) == (422, "idempotency_key_reused", "Idempotency-Key")
    assert contents() == before


def test_a_key_counts_in_its_own_account_only(opened: OpenDoor) -> None:
    ours = opened("acme").post("/v1/runs", TASK, Idempotency_Key="once")
    theirs = opened("globex").post("/v1/runs", TASK, Idempotency_Key="once")

    assert ours.body["run_id"] != theirs.body["run_id"]


def test_a_key_counts_for_24_hours(door: Door, time: VirtualTime) -> None:
    first = door.post("/v1/runs", TASK, Idempotency_Key="once").body["run_id"]

    time.advance(24 * 3600 - 1)
    assert door.post("/v1/runs", TASK, Idempotency_Key="once").body["run_id"] == first
    time.advance(1)
    assert door.post("/v1/runs", TASK, Idempotency_Key="once").body["run_id"] != first


@pytest.mark.parametrize("key", ["", " ", '""', '"open', '"a"b"', "k" * 256, "naïve", "tab\there"])
def test_a_key_that_is_none_is_refused(key: str, door: Door, contents: Contents) -> None:
    before = contents()

    answer = door.post("/v1/runs", TASK, Idempotency_Key=key)

    assert (answer.status, answer.code) == (400, "invalid_idempotency_key")
    assert contents() == before


def test_a_run_shows_where_it_stands(door: Door, world: World) -> None:
    run_id = submitted(door, metadata={"team": "research"})
    begun(world, run_id)

    assert door.get(f"/v1/runs/{run_id}").body == {
        "run_id": run_id,
        "agent": "demo",
        "status": "running",
        "created_at": "2026-01-01T00:00:00.000Z",
        "first_token_at": None,
        "ended_at": None,
        "attempt": 1,
        "metadata": {"team": "research"},
        "budget": {"steps": 50, "seconds": 3600},
        "waiting_for": None,
        "last_seq": 1,
        "files": [],
    }


@pytest.mark.parametrize(
    ("trigger", "data", "shown"),
    [
        (Trigger.FINISH, {"output": {"text": "42"}}, {"output": {"text": "42"}}),
        (
            Trigger.FAIL,
            {"error": {"code": "crash_loop", "detail": "…"}, "unsettled": []},
            {"error": {"code": "crash_loop", "detail": "…"}},
        ),
    ],
)
def test_a_run_that_has_ended_shows_how(
    trigger: Trigger, data: dict[str, Any], shown: dict[str, Any], door: Door, world: World
) -> None:
    run_id = submitted(door)
    begun(world, run_id)
    found = world.runs.tail(run_id)
    assert found is not None
    change = a_move(found[0], trigger, tail=1)
    world.runs.commit(replace(change, event=replace(change.event, data=data)))

    body = door.get(f"/v1/runs/{run_id}").body

    assert {name: body[name] for name in ("output", "error", "cancelled") if name in body} == shown
    assert body["ended_at"] is not None


ODD_IDS = [
    "run_",
    "run_UPPERCASE00000000000000000",
    "..",
    "%2e%2e%2fkeys",
    "run_0000000000000000000000000%00",
    "RUN%23x",
]


BELOW_A_RUN = [("GET", ""), ("GET", "/events"), ("GET", f"/payloads/{'0' * 64}"), ("POST", "/cancel")]


@pytest.mark.parametrize("run_id", ODD_IDS)
@pytest.mark.parametrize(("method", "path"), BELOW_A_RUN)
def test_an_id_of_odd_characters_is_refused_as_such(method: str, path: str, run_id: str, door: Door) -> None:
    answer = door.ask(method, f"/v1/runs/{run_id}{path}", None)

    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_run_id", "run_id")


@pytest.mark.parametrize(("method", "path"), BELOW_A_RUN)
def test_another_accounts_run_is_not_there(
    method: str, path: str, opened: OpenDoor, world: World, contents: Contents
) -> None:
    theirs = submitted(opened("globex"))
    ours = opened("acme")
    before = contents()

    answer = ours.ask(method, f"/v1/runs/{theirs}{path}", None)
    nowhere = ours.ask(method, f"/v1/runs/run_{'0' * 26}{path}", None)

    assert (answer.status, answer.code) == (404, "run_not_found")
    assert same_but_for_the_request(answer, nowhere)
    assert contents() == before


def same_but_for_the_request(one: Answer, other: Answer) -> bool:
    return one.status == other.status and one.body | {"request_id": ""} == other.body | {"request_id": ""}


def test_runs_are_listed_newest_first_and_page_by_page(door: Door, time: VirtualTime) -> None:
    made = []
    for _ in range(5):
        made.append(submitted(door))
        time.advance(1)

    page = door.get("/v1/runs?limit=2").body
    listed = [run["run_id"] for run in page["runs"]]
    while page["next"]:
        page = door.get(f"/v1/runs?limit=2&next={page['next']}").body
        listed += [run["run_id"] for run in page["runs"]]

    assert listed == made[::-1]


def test_runs_are_listed_by_status_and_by_account(opened: OpenDoor) -> None:
    door = opened("acme")
    cancelled, pending = submitted(door), submitted(door)
    submitted(opened("globex"))
    door.post(f"/v1/runs/{cancelled}/cancel")

    assert [run["run_id"] for run in door.get("/v1/runs?status=cancelled").body["runs"]] == [cancelled]
    assert [run["run_id"] for run in door.get("/v1/runs?status=pending").body["runs"]] == [pending]
    assert door.get("/v1/runs?status=failed").body == {"runs": [], "next": None}


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("status=finished", "invalid_status", "status"),
        ("status=", "invalid_status", "status"),
        ("limit=0", "limit_out_of_range", "limit"),
        ("limit=101", "limit_out_of_range", "limit"),
        ("limit=ten", "limit_out_of_range", "limit"),
        ("limit=", "limit_out_of_range", "limit"),
        ("next=nowhere", "invalid_next", "next"),
        ("page=2", "unknown_field", "page"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused(query: str, code: str, field: str, door: Door) -> None:
    answer = door.get(f"/v1/runs?{query}")

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)


def test_a_pending_run_is_cancelled_on_the_spot(opened: OpenDoor) -> None:
    door = opened()
    run_id = submitted(door)

    answer = door.post(f"/v1/runs/{run_id}/cancel", {"reason": "no need"})

    assert (answer.status, answer.body["status"]) == (200, "cancelled")
    cancelled = answer.body["cancelled"]
    assert (cancelled["reason"], cancelled["latency_ms"], cancelled["unsettled"]) == ("no need", 0, [])
    assert cancelled["actor"].startswith("key_")


def test_a_run_that_is_held_is_cancelling_until_its_holder_confirms(door: Door, world: World) -> None:
    run_id = submitted(door)
    begun(world, run_id)

    answer = door.post(f"/v1/runs/{run_id}/cancel")

    assert (answer.status, answer.body["status"]) == (202, "cancelling")
    assert "cancelled" not in answer.body
    assert door.post(f"/v1/runs/{run_id}/cancel").status == 202


def test_a_finished_run_stays_what_it_is_when_it_is_cancelled(door: Door, world: World, contents: Contents) -> None:
    run_id = submitted(door)
    door.post(f"/v1/runs/{run_id}/cancel", {"reason": "first"})
    before = contents()

    answer = door.post(f"/v1/runs/{run_id}/cancel", {"reason": "second"})

    assert (answer.status, answer.body["cancelled"]["reason"]) == (200, "first")
    assert contents() == before


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"{", "invalid_json", None),
        ([], "wrong_type", None),
        ({"reason": 7}, "wrong_type", "reason"),
        ({"because": "x"}, "unknown_field", "because"),
        ({"reason": "x" * 501}, "text_too_long", "reason"),
    ],
)
def test_a_bad_cancel_is_refused_and_cancels_nothing(
    body: Any, code: str, field: str | None, door: Door, contents: Contents
) -> None:
    run_id = submitted(door)
    before = contents()

    answer = door.post(f"/v1/runs/{run_id}/cancel", body)

    assert (answer.status, answer.code, answer.body.get("field")) == (400, code, field)
    assert contents() == before


@pytest.mark.parametrize("body", [None, {}, {"reason": None}])
def test_a_cancel_needs_no_reason(body: Any, door: Door) -> None:
    answer = door.post(f"/v1/runs/{submitted(door)}/cancel", body)

    assert (answer.status, answer.body["cancelled"]["reason"]) == (200, None)


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        (Scope.RUN, "GET", "/v1/runs"),
        (Scope.RUN, "GET", "/v1/agents"),
        (Scope.RUN, "GET", f"/v1/runs/run_{'0' * 26}"),
        (Scope.RUN, "GET", f"/v1/runs/run_{'0' * 26}/events"),
        (Scope.RUN, "GET", f"/v1/runs/run_{'0' * 26}/payloads/{'0' * 64}"),
        (Scope.READ, "POST", "/v1/runs"),
        (Scope.READ, "POST", f"/v1/runs/run_{'0' * 26}/cancel"),
        (Scope.RUN, "POST", "/v1/keys"),
        (Scope.READ, "GET", "/v1/keys"),
        (Scope.APPROVE, "DELETE", "/v1/keys/key_1"),
        (Scope.ADMIN, "GET", "/v1/runs"),
    ],
)
def test_a_key_reaches_as_far_as_its_scopes(scope: Scope, method: str, path: str, opened: OpenDoor) -> None:
    answer = opened("acme", scope).ask(method, path, TASK if method == "POST" else None)

    assert (answer.status, answer.code) == (403, "scope_missing")


def test_a_store_that_does_not_answer_is_told_as_unavailable_and_when_to_come_back(
    door: Door, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*args: object, **kwargs: object) -> None:
        raise Unavailable("given up after 6 tries")

    monkeypatch.setattr(world.runs, "tail", gone)

    answer = door.get(f"/v1/runs/run_{'0' * 26}")

    assert (answer.status, answer.code, answer.headers["Retry-After"]) == (503, "unavailable", "1")
    assert "tries" not in json.dumps(answer.body)


def test_a_mistake_of_ours_is_told_without_its_insides(
    door: Door, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret insides")

    monkeypatch.setattr(world.runs, "tail", broken)

    answer = door.get(f"/v1/runs/run_{'0' * 26}")

    assert (answer.status, answer.code) == (500, "internal")
    assert "insides" not in json.dumps(answer.body)


def test_a_method_that_a_path_does_not_know_is_a_problem_too(door: Door) -> None:
    answer = door.ask("DELETE", "/v1/runs", None)

    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]
