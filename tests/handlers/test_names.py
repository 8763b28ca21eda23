"""What cannot be a name is not there: it never becomes a key of the table, which takes keys of 1,024 bytes."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.adapters.dynamodb.conditions import Expression
from chalicelib.adapters.dynamodb.table import Table
from tests.handlers.door import Door

LONGEST_KEY = 1_024
LONG = "x" * 3_000


@pytest.fixture(autouse=True)
def bounded_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in for DynamoDB takes keys of any length."""
    get, query = Table.get, Table.query

    def bounded_get(table: Table, key: dict[str, str], **more: Any) -> Any:
        assert all(len(part.encode()) <= LONGEST_KEY for part in key.values()), "no key of DynamoDB"
        return get(table, key, **more)

    def bounded_query(table: Table, condition: Expression, **more: Any) -> Any:
        assert all(len(str(value)) <= LONGEST_KEY for value in condition.values.values()), "no key of DynamoDB"
        return query(table, condition, **more)

    monkeypatch.setattr(Table, "get", bounded_get)
    monkeypatch.setattr(Table, "query", bounded_query)


@pytest.mark.parametrize("name", [LONG, "%C3%A4", "A", "a%23b"])
@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/v1/agents/{}", "agent_not_found"),
        ("GET", "/v1/agents/{}?version=1", "agent_not_found"),
        ("DELETE", "/v1/agents/{}", "agent_not_found"),
        ("GET", "/v1/webhooks/{}", "webhook_not_found"),
        ("DELETE", "/v1/webhooks/{}", "webhook_not_found"),
        ("POST", "/v1/webhooks/{}/secret", "webhook_not_found"),
        ("DELETE", "/v1/keys/key_{}", "key_not_found"),
        ("GET", "/v1/files/{}", "file_not_found"),
    ],
)
def test_what_is_no_name_by_its_form_is_not_found(door: Door, method: str, path: str, code: str, name: str) -> None:
    answer = door.ask(method, path.format(name), {} if method == "POST" else None)

    assert (answer.status, answer.code) == (404, code)


@pytest.mark.parametrize(
    ("named", "code", "field"),
    [
        ({"agent": LONG}, "unknown_agent", "agent"),
        ({"webhook": {"url": "https://a.example.com/", "signed_by": LONG}}, "unknown_webhook", "webhook.signed_by"),
    ],
)
def test_a_task_that_names_what_is_no_name_is_refused(door: Door, named: dict[str, Any], code: str, field: str) -> None:
    answer = door.post("/v1/runs", {"agent": "demo", "text": "x", **named})

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
