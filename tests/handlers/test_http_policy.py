"""The account's policy over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.core import grants
from chalicelib.core.api_key import Scope
from tests.core.recipes import PAY, WHOLE
from tests.handlers.conftest import OpenDoor
from tests.handlers.door import Door

PATH = "/v1/policy"
RULES = ["allow *", "deny http_get(host=*.Internal.example)"]
AS_DATA = [
    {"effect": "allow", "tool": "*"},
    {"effect": "deny", "tool": "http_get", "when": {"host": {"host_in": ["*.internal.example"]}}},
]


def test_an_account_without_a_policy_has_version_0_and_no_rules(door: Door) -> None:
    assert door.get(PATH).body == {"version": 0, "permissions": [], "set_at": None, "set_by": None}


def test_a_policy_is_set_read_and_replaced(door: Door) -> None:
    first = door.put(PATH, {"version": 0, "permissions": RULES})

    assert (first.status, first.body["version"], first.body["permissions"]) == (200, 1, AS_DATA)
    assert first.body["set_at"] == "2026-01-01T00:00:00.000Z"
    assert first.body["set_by"].startswith("key_")
    assert door.get(PATH).body == first.body

    second = door.put(PATH, {"version": 1, "permissions": AS_DATA[:1]})
    assert (second.body["version"], second.body["permissions"]) == (2, AS_DATA[:1])
    assert door.put(PATH, {"version": 2, "permissions": []}).body["permissions"] == []


def test_a_policy_that_somebody_else_has_changed_meanwhile_is_not_overwritten(opened: OpenDoor) -> None:
    one, other = opened("acme"), opened("acme")
    one.put(PATH, {"version": 0, "permissions": RULES})

    late = other.put(PATH, {"version": 0, "permissions": ["deny *"]})

    assert (late.status, late.code, late.body["expected"]) == (409, "policy_changed", "1")
    assert one.get(PATH).body["permissions"] == AS_DATA
    assert other.put(PATH, {"version": 7, "permissions": []}).code == "policy_changed"


def test_the_same_request_again_answers_the_same(door: Door) -> None:
    asked = {"version": 0, "permissions": RULES}
    assert door.put(PATH, asked).body == door.put(PATH, asked).body


def test_a_policy_is_its_accounts_own(opened: OpenDoor) -> None:
    opened("acme").put(PATH, {"version": 0, "permissions": RULES})
    assert opened("globex").get(PATH).body["version"] == 0


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"permissions": []}, "missing_field", "version"),
        ({"version": 0}, "missing_field", "permissions"),
        ({"version": "0", "permissions": []}, "wrong_type", "version"),
        ({"version": True, "permissions": []}, "wrong_type", "version"),
        ({"version": 0, "permissions": {}}, "wrong_type", "permissions"),
        ({"version": 0, "permissions": [], "until": 1}, "unknown_field", "until"),
        ({"version": 0, "permissions": ["allow http_gte"]}, "invalid_permission", "permissions[0]"),
        (
            {
                "version": 0,
                "permissions": ["allow *", {"effect": "allow", "tool": "notes", "when": {"path": {"eq": "a"}}}],
            },
            "invalid_permission",
            "permissions[1].when.path",
        ),
        ({"version": 0, "permissions": ["allow send_email preapproved"]}, "invalid_permission", "permissions[0].limit"),
    ],
)
def test_what_is_no_policy_is_refused_by_field_and_changes_nothing(
    door: Door, body: dict[str, Any], code: str, field: str
) -> None:
    answer = door.put(PATH, body)

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
    assert door.get(PATH).body["version"] == 0


def test_a_policy_takes_the_scope_admin(opened: OpenDoor) -> None:
    door = opened("acme", Scope.READ, Scope.RUN, Scope.APPROVE)
    assert door.get(PATH).code == door.put(PATH, {"version": 0, "permissions": []}).code == "scope_missing"


def test_rules_can_be_about_every_built_in_tool(door: Door) -> None:
    names = [spec.name for spec in bootstrap.world().built_in_specs]
    assert {"current_time", "http_get", "notes", "send_email", "wait_until"} <= {*names}
    assert door.put(PATH, {"version": 0, "permissions": [f"ask {name}" for name in names]}).status == 200


DECLARED = ["allow *", "ask pay(crowns<=10) max 3", "deny sign", "deny wiki__search", "ask wiki__*", "ask s*"]


def test_rules_can_be_about_what_the_accounts_agents_declare_and_nobody_elses(opened: OpenDoor) -> None:
    door, theirs = opened("acme"), opened("globex")
    for name in ("clerk", "scribe"):
        assert door.put(f"/v1/agents/{name}", WHOLE).status == 201

    assert door.put(PATH, {"version": 0, "permissions": DECLARED}).status == 200

    refused = theirs.put(PATH, {"version": 0, "permissions": DECLARED})
    assert (refused.code, refused.body["field"]) == ("invalid_permission", "permissions[1]")
    assert "pay" not in refused.body["expected"]


def test_a_rule_about_what_no_agent_declares_so_is_refused_with_what_there_is(door: Door) -> None:
    for name in ("clerk", "scribe"):
        door.put(f"/v1/agents/{name}", WHOLE)

    strange = door.put(PATH, {"version": 0, "permissions": ["deny pya"]})
    assert strange.code == "invalid_permission"
    assert strange.body["expected"].endswith(
        ": current_time, http_get, notes, run_code, send_email, wait_until, pay, sign, wiki__search, wiki__*"
    )
    assert door.put(PATH, {"version": 0, "permissions": ["deny pay(iban=x)"]}).body["expected"] == "one of: crowns, to"

    door.put("/v1/agents/scribe", {**WHOLE, "declared": [{**PAY, "fields": {"to": "text"}}], "permissions": []})
    differs = door.put(PATH, {"version": 0, "permissions": ["deny pay(crowns<=3)"]})
    assert (differs.code, differs.body["expected"]) == ("invalid_permission", "one of: to")


def test_the_document_says_how_large_a_policy_may_be(door: Door) -> None:
    rules = ["allow *"] * (grants.MAX_RULES + 1)
    assert door.put(PATH, {"version": 0, "permissions": rules}).code == "invalid_permission"
