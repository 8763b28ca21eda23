"""Agents over HTTP."""

from __future__ import annotations

import pytest

from chalicelib.core.api_key import Scope
from tests.core.recipes import LEAST, WHOLE
from tests.core.test_recipe import MISTAKES
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import DOCUMENT, Door


def test_an_agent_is_defined_listed_and_shown(door: Door) -> None:
    put = door.put("/v1/agents/clerk", WHOLE)

    assert (put.status, put.headers["Location"]) == (201, "/v1/agents/clerk?version=1")
    assert door.get("/v1/agents/clerk").body == put.body
    assert door.get("/v1/agents/clerk?version=1").body == put.body
    assert (put.body["prompt"], put.body["version"], put.body["built_in"]) == ("Be careful.", 1, False)
    listed = {agent["name"]: agent for agent in door.get("/v1/agents").body["agents"]}
    assert [*listed] == ["clerk", "demo", "demo-researcher"]
    assert (listed["clerk"]["version"], listed["clerk"]["built_in"], listed["demo"]["built_in"]) == (1, False, True)
    assert "prompt" not in listed["clerk"]


def test_the_same_content_is_no_new_version_even_as_it_was_shown(door: Door) -> None:
    shown = door.put("/v1/agents/clerk", WHOLE).body
    again = {name: value for name, value in shown.items() if name not in ("name", "version", "built_in")}

    answer = door.put("/v1/agents/clerk", again)

    assert (answer.status, answer.body) == (200, shown)
    assert door.put("/v1/agents/clerk", LEAST).body["version"] == 2


def test_a_task_names_an_agent_of_the_account_and_gets_its_newest_version(opened: OpenDoor) -> None:
    door, theirs = opened("acme"), opened("globex")
    door.put("/v1/agents/clerk", LEAST)
    door.put("/v1/agents/clerk", {**LEAST, "budget": {"steps": 3}})

    run_id = door.post("/v1/runs", {"agent": "clerk", "text": "go"}).body["run_id"]

    [first] = door.get(f"/v1/runs/{run_id}/events").body["events"]
    assert (first["data"]["agent"], first["data"]["version"], first["data"]["budget"]["steps"]) == ("clerk", 2, 3)
    refused = theirs.post("/v1/runs", {"agent": "clerk", "text": "go"})
    assert (refused.code, refused.body["expected"]) == ("unknown_agent", "one of: demo, demo-researcher")
    assert theirs.get("/v1/agents/clerk").code == "agent_not_found"


def test_a_deleted_agent_is_gone_but_for_its_versions(door: Door) -> None:
    door.put("/v1/agents/clerk", LEAST)

    assert [door.delete("/v1/agents/clerk").status for _ in range(2)] == [204, 204]

    assert door.get("/v1/agents/clerk").code == "agent_not_found"
    assert door.get("/v1/agents/clerk?version=1").status == 200
    assert door.post("/v1/runs", {"agent": "clerk", "text": "go"}).code == "unknown_agent"
    assert [agent["name"] for agent in door.get("/v1/agents").body["agents"]] == ["demo", "demo-researcher"]


def test_a_built_in_agent_is_shown_and_nobodys_to_change(door: Door) -> None:
    shown = door.get("/v1/agents/demo")
    put, deleted = door.put("/v1/agents/demo", LEAST), door.delete("/v1/agents/demo")

    assert (shown.body["version"], shown.body["built_in"]) == (0, True)
    assert [(answer.status, answer.code) for answer in (put, deleted)] == [(409, "agent_built_in")] * 2


def test_what_cannot_be_meant_is_a_problem_with_its_path_and_nothing_is_kept(door: Door, contents: Contents) -> None:
    before = contents()

    for asked, code, field in MISTAKES:
        answer = door.put("/v1/agents/clerk", asked)
        assert (answer.status, answer.code, answer.body.get("field")) == (400, code, field)

    assert contents() == before


@pytest.mark.parametrize("name", ["Clerk", "a%20b", "a%2Fb", "%23", "a" * 65])
def test_an_agents_name_has_its_form(name: str, door: Door) -> None:
    put = door.put(f"/v1/agents/{name}", LEAST)

    assert (put.status, put.code, put.body["field"]) == (400, "invalid_agent_name", "name")
    assert door.get(f"/v1/agents/{name}").code == "agent_not_found"
    assert door.delete(f"/v1/agents/{name}").code == "agent_not_found"


@pytest.mark.parametrize(
    ("query", "code"),
    [("version=new", "version_out_of_range"), ("version=-1", "version_out_of_range"), ("v=1", "unknown_field")],
)
def test_a_version_is_a_number(query: str, code: str, door: Door) -> None:
    assert door.get(f"/v1/agents/demo?{query}").code == code


@pytest.mark.parametrize(("version", "code"), [(2, "agent_not_found"), (0, "agent_not_found")])
def test_a_version_that_there_is_not_is_not_found(version: int, code: str, door: Door) -> None:
    door.put("/v1/agents/clerk", LEAST)

    assert door.get(f"/v1/agents/clerk?version={version}").code == code


@pytest.mark.parametrize("body", [b"", b"{", b'{"prompt": NaN}', b'{"answer_within": 1e999}'])
def test_a_recipe_is_json(body: bytes, door: Door) -> None:
    assert door.put("/v1/agents/clerk", body).code == "invalid_json"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_only_who_may_change_agents_sees_what_they_are_told(method: str, opened: OpenDoor) -> None:
    door = opened("acme", Scope.READ, Scope.RUN, Scope.APPROVE)

    assert door.ask(method, "/v1/agents/demo", None).code == "scope_missing"


def test_the_documents_whole_example_is_taken(door: Door) -> None:
    example = DOCUMENT["components"]["examples"]["WholeRecipe"]["value"]

    assert door.put("/v1/agents/treasurer", example).status == 201
