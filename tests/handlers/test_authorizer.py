"""Who is let in, and what API Gateway is told of the others."""

from __future__ import annotations

import json

import pytest
from chalice.app import AuthRequest

from app import api_auth, app
from chalicelib.bootstrap import World
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Unavailable
from chalicelib.handlers.authorizer import authorize
from chalicelib.usecases.make_key import make_key
from infra import gateway
from tests.handlers.conftest import Contents
from tests.handlers.door import Door

ARN = "arn:aws:execute-api:eu-central-1:123456789012:api/api/GET/v1/runs"


def a_secret(world: World, *scopes: Scope) -> str:
    ports = {"keys": world.keys, "clock": world.clock, "chance": world.chance}
    return make_key("test", frozenset(scopes or Scope), account_id="acme", **ports)[1]  # type: ignore[arg-type]


def answer(header: str) -> dict[str, object]:
    request = AuthRequest("TOKEN", header, ARN)
    return authorize(request).to_dict(request)


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER   {} "])
def test_a_key_lets_its_owner_in_everywhere_since_the_answer_is_kept_for_every_route(form: str, world: World) -> None:
    said = answer(form.format(a_secret(world, Scope.READ, Scope.RUN)))

    assert said["policyDocument"] == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Action": "execute-api:Invoke",
                "Effect": "Allow",
                "Resource": ["arn:aws:execute-api:eu-central-1:123456789012:api/api/*/*"],
            }
        ],
    }
    assert said["context"] == {"account_id": "acme", "key_id": said["principalId"], "scopes": "read run"}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic cGF3bDpwYXds", "pawl_00", "Bearer pawl_00"])
def test_a_header_without_a_key_that_counts_lets_nobody_in(header: str, world: World) -> None:
    said = answer(header)

    assert denies(said)
    assert said["context"]["code"] == "unauthenticated"  # type: ignore[index]


def test_a_revoked_key_lets_nobody_in_and_says_so(world: World) -> None:
    secret = a_secret(world)
    [key] = world.keys.of_account("acme")
    world.keys.revoke("acme", key.key_id, world.clock.now())

    said = answer(f"Bearer {secret}")

    assert denies(said)
    assert said["context"] == {"code": "key_revoked", "detail": "this API key was revoked"}


def denies(said: dict[str, object]) -> bool:
    document = said["policyDocument"]
    assert isinstance(document, dict)
    return [(each["Effect"], each["Resource"]) for each in document["Statement"]] == [("Deny", ["*"])]


def test_what_the_authorizer_says_of_a_bad_key_becomes_the_body_of_the_401() -> None:
    refusal = gateway.responses()["ACCESS_DENIED"]
    body = json.loads(refusal["ResponseTemplates"]["application/json"])

    assert refusal["StatusCode"] == body["status"] == 401
    assert (body["code"], body["detail"]) == ("$context.authorizer.code", "$context.authorizer.detail")


def test_a_store_that_does_not_answer_is_no_refusal_and_is_not_remembered_as_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(digest: str) -> None:
        raise Unavailable("down")

    monkeypatch.setattr(world.keys, "find", gone)

    with pytest.raises(Unavailable):
        answer("Bearer pawl_00")


def test_the_authorizer_is_asked_again_after_a_minute() -> None:
    assert api_auth.config.ttl_seconds == 60


@pytest.mark.parametrize("secret", [None, "pawl_00"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        (method, route)
        for route, methods in app.routes.items()
        for method in methods
        if route not in ("/healthz", "/openapi.yaml")
    ],
)
def test_nobody_comes_through_any_door_without_a_key(
    method: str, path: str, secret: str | None, world: World, contents: Contents
) -> None:
    answer = Door(app, secret).ask(method, path.replace("{run_id}", "run_x").replace("{key_id}", "key_x"), None)

    assert answer.status in (401, 403)
    assert answer.headers["x-amzn-ErrorType"] in ("UnauthorizedException", "AccessDeniedException")
    assert contents() == []
