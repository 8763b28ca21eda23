"""From an Authorization header to a caller: what API Gateway is told of a key, and what a route is told of its caller.

A key that does not count is denied by policy rather than by an exception: only a policy carries a context, and so the
code that API Gateway puts into its 401 (see infra/gateway.py). It keeps either answer for the authorizer's minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chalice.app import AuthRequest, AuthResponse, Request

from chalicelib import bootstrap
from chalicelib.core import api_key
from chalicelib.core.api_key import Scope
from chalicelib.core.errors import Unauthenticated
from chalicelib.usecases.identify import identify


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent the request, by the key that was sent along."""

    account_id: str
    key_id: str
    scopes: frozenset[Scope]


class Denial(AuthResponse):
    """A policy that lets nobody in. Chalice's own without routes would allow an empty list, which AWS calls a fault."""

    def to_dict(self, request: AuthRequest) -> dict[str, Any]:
        statement = {"Effect": "Deny", "Action": "execute-api:Invoke", "Resource": ["*"]}
        return {
            "principalId": self.principal_id,
            "context": self.context,
            "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        }


def authorize(request: AuthRequest) -> AuthResponse:
    """Let a key's owner in everywhere: the answer is cached for the key, whatever the route. Routes check scopes."""
    try:
        key = identify(api_key.bearer(request.token), keys=bootstrap.world().keys)
    except Unauthenticated as refusal:
        return Denial([], "nobody", {"code": refusal.code, "detail": refusal.detail})
    context = {"account_id": key.account_id, "key_id": key.key_id, "scopes": " ".join(sorted(key.scopes))}
    return AuthResponse(["*"], key.key_id, context)


def caller(request: Request, needs: Scope) -> Caller:
    """Who asks. Raises `Forbidden` if the key lacks the scope that the route needs."""
    told = request.context["authorizer"]
    scopes = frozenset(Scope(scope) for scope in told["scopes"].split())
    api_key.permit(scopes, needs)
    return Caller(told["account_id"], told["key_id"], scopes)
