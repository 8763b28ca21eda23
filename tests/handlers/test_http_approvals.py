"""Questions and answers over HTTP: what a request must say. What an answer makes of a run stands in tests/usecases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.handlers.door import Door

RUN = "/v1/runs/run_00000000000000000000000001"
GOOD = {"decision": "approve", "digest": "d"}

BAD: list[tuple[str, str, Any, str, str | None]] = [
    ("no JSON", "approvals/ap_1", b"{", "invalid_json", None),
    ("no decision", "approvals/ap_1", {"digest": "d"}, "missing_field", "decision"),
    ("no digest", "approvals/ap_1", {"decision": "approve"}, "missing_field", "digest"),
    ("no such decision", "approvals/ap_1", GOOD | {"decision": "maybe"}, "invalid_decision", "decision"),
    ("a string for args", "approvals/ap_1", GOOD | {"args": "x"}, "wrong_type", "args"),
    ("a string for a grant", "approvals/ap_1", GOOD | {"grant": "yes"}, "wrong_type", "grant"),
    ("an unknown field", "approvals/ap_1", GOOD | {"force": True}, "unknown_field", "force"),
    ("a result without content", "tool-results/c", {"ok": True}, "missing_field", "content"),
    ("a number for ok", "tool-results/c", {"ok": 1, "content": "x"}, "wrong_type", "ok"),
    ("an unknown field of a result", "tool-results/c", {"ok": True, "content": "", "x": 1}, "unknown_field", "x"),
]


@pytest.mark.parametrize(("place", "body", "code", "field"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_cannot_be_meant_is_refused_by_name(
    door: Door, place: str, body: Any, code: str, field: str | None
) -> None:
    answer = door.post(f"{RUN}/{place}", body)
    assert (answer.status, answer.code, answer.body.get("field")) == (400, code, field)


@pytest.mark.parametrize(
    ("place", "body"), [("approvals/ap_1", GOOD), ("tool-results/c", {"ok": True, "content": "x"})]
)
def test_a_run_that_is_not_there_is_a_404(door: Door, place: str, body: Any) -> None:
    answer = door.post(f"{RUN}/{place}", body)
    assert (answer.status, answer.code) == (404, "run_not_found")


def test_an_empty_inbox_is_an_empty_list(door: Door) -> None:
    assert door.get("/v1/approvals").body == {"approvals": [], "next": None}


@pytest.mark.parametrize("query", ["limit=0", "limit=51", "next=x", "status=open"])
def test_an_inbox_is_asked_for_in_its_own_words(door: Door, query: str) -> None:
    assert door.get(f"/v1/approvals?{query}").status == 400
