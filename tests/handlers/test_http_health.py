"""What needs no key, and the agents, which need one."""

from __future__ import annotations

from tests.handlers.door import DOCUMENT, Door


def test_the_api_says_that_it_answers_to_anybody(stranger: Door) -> None:
    answer = stranger.get("/healthz")

    assert (answer.status, answer.body) == (200, {"status": "ok"})


def test_the_document_that_describes_the_api_is_served_by_it(stranger: Door) -> None:
    answer = stranger.get("/openapi.yaml")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/yaml")
    assert answer.body.startswith(f"openapi: {DOCUMENT['openapi']}")


def test_the_agents_are_shown_without_their_prompts(door: Door) -> None:
    [demo, researcher] = door.get("/v1/agents").body["agents"]

    assert [demo["name"], researcher["name"]] == ["demo", "demo-researcher"]
    assert set(demo) == set(researcher) == {"name", "version", "built_in", "description", "model", "tools", "budget"}
