"""API keys over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app import app
from chalicelib.core import api_key
from tests.handlers.conftest import Contents, OpenDoor
from tests.handlers.door import Door


def test_a_new_key_opens_what_its_scopes_say(door: Door) -> None:
    made = door.post("/v1/keys", {"name": "laptop", "scopes": ["read"]})
    with_it = Door(app, made.body["secret"])

    assert (made.status, made.headers["Location"]) == (201, f"/v1/keys/{made.body['key_id']}")
    assert with_it.get("/v1/runs").status == 200
    assert with_it.get("/v1/keys").code == "scope_missing"


def test_a_secret_is_told_once_and_only_its_hash_is_kept(door: Door, contents: Contents) -> None:
    secret = door.post("/v1/keys", {"name": "laptop", "scopes": ["read"]}).body["secret"]

    assert secret.removeprefix("pawl_") not in json.dumps(contents())
    assert api_key.digest(secret) in json.dumps(contents())
    assert all("secret" not in key for key in door.get("/v1/keys").body["keys"])


def test_keys_are_listed_for_their_own_account(opened: OpenDoor) -> None:
    ours, theirs = opened("acme"), opened("globex")
    ours.post("/v1/keys", {"name": "laptop", "scopes": ["run", "read"]})

    listed = ours.get("/v1/keys").body["keys"]

    assert sorted(key["name"] for key in listed) == ["laptop", "test"]
    assert [key["scopes"] for key in listed if key["name"] == "laptop"] == [["read", "run"]]
    assert [key["name"] for key in theirs.get("/v1/keys").body["keys"]] == ["test"]


def test_a_key_is_revoked_once_and_the_first_time_stands(door: Door) -> None:
    key_id = door.post("/v1/keys", {"name": "laptop", "scopes": ["read"]}).body["key_id"]

    first, second = door.delete(f"/v1/keys/{key_id}"), door.delete(f"/v1/keys/{key_id}")

    assert first.status == second.status == 200
    assert first.body["revoked_at"] == second.body["revoked_at"] == "2026-01-01T00:00:00.000Z"


@pytest.mark.parametrize("key_id", ["key_nowhere", "..", "key%00", "KEY#x"])
def test_a_key_that_the_account_does_not_have_is_not_found(key_id: str, door: Door) -> None:
    answer = door.delete(f"/v1/keys/{key_id.replace('#', '%23')}")

    assert (answer.status, answer.code) == (404, "key_not_found")


def test_another_accounts_key_is_not_there_and_stays_good(opened: OpenDoor) -> None:
    theirs = opened("globex")
    key_id = theirs.get("/v1/keys").body["keys"][0]["key_id"]

    assert opened("acme").delete(f"/v1/keys/{key_id}").code == "key_not_found"
    assert theirs.get("/v1/runs").status == 200


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"scopes": ["read"]}, "missing_field", "name"),
        ({"name": "x"}, "missing_field", "scopes"),
        ({"name": "", "scopes": ["read"]}, "text_empty", "name"),
        ({"name": "x" * 101, "scopes": ["read"]}, "text_too_long", "name"),
        ({"name": "x", "scopes": "read"}, "wrong_type", "scopes"),
        ({"name": "x", "scopes": []}, "invalid_scopes", "scopes"),
        ({"name": "x", "scopes": ["write"]}, "invalid_scopes", "scopes"),
        ({"name": "x", "scopes": [7]}, "invalid_scopes", "scopes"),
        ({"name": "x", "scopes": [["read"]]}, "invalid_scopes", "scopes"),
        ({"name": "x", "scopes": ["read"], "secret": "mine"}, "unknown_field", "secret"),
    ],
)
def test_a_key_that_cannot_be_meant_is_refused_and_none_is_made(
    body: dict[str, Any], code: str, field: str, door: Door, contents: Contents
) -> None:
    before = contents()

    answer = door.post("/v1/keys", body)

    assert (answer.status, answer.code, answer.body["field"]) == (400, code, field)
    assert contents() == before
