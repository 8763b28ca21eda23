"""API Gateway in front of the packaged Chalice app: routes, the authorizer and its cache, and the proxy integration."""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from chalice.app import Chalice
from chalice.local import ARNMatcher, LambdaEventConverter, LocalARNBuilder, LocalChalice, RouteMatcher

from chalicelib.ports.clock import Clock
from infra.local.functions import Outcome
from infra.local.lambdas import Lambdas
from infra.local.refusals import Answer, Refusals, Refused

log = logging.getLogger("infra.local")

MAX_BODY = 10 * 1024 * 1024
OWN_FAULT = "Unauthorized"
"""The one message of an authorizer's exception that API Gateway takes for a refusal."""

Event = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """An HTTP request. `path` is as it came, undecoded, with its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class RestApi:
    """The REST API of the stack. Any number of threads may ask it at once."""

    def __init__(self, app: Chalice, lambdas: Lambdas, refusals: Refusals, clock: Clock) -> None:
        # A plain Chalice keeps the current request in an attribute that all threads share.
        app.__class__ = LocalChalice
        self._app = app
        self._lambdas = lambdas
        self._refusals = refusals
        self._events = LambdaEventConverter(RouteMatcher(list(app.routes)), app.api.binary_types)
        self._guard = Guard(lambdas, clock)

    def ask(self, asked: Asked) -> Answer:
        """Answer a request as the deployed API would."""
        began, request_id = perf_counter(), str(uuid4())
        try:
            answer = self._integrate(asked, request_id)
        except Refused as refused:
            answer = self._refusals.answer(refused, request_id)
        path, milliseconds = asked.path.partition("?")[0], (perf_counter() - began) * 1000
        # A watcher polls: its line would drown the others.
        level = logging.DEBUG if path.endswith("/events") and answer.status < 400 else logging.INFO
        log.log(level, "%-15s %s %s %d, %d ms", "app", asked.method, path, answer.status, milliseconds)
        return answer

    def _integrate(self, asked: Asked, request_id: str) -> Answer:
        event = self._event(asked, request_id)
        route = self._app.routes[event["requestContext"]["resourcePath"]].get(asked.method)
        if route is None:
            raise Refused("MISSING_AUTHENTICATION_TOKEN")
        if route.authorizer is not None:
            event["requestContext"]["authorizer"] = self._guard.let_in(route.authorizer, event, asked)
        outcome = self._lambdas.answer("app", event)
        if outcome.failed:
            raise Refused("INTEGRATION_FAILURE")
        return _answer(outcome)

    def _event(self, asked: Asked, request_id: str) -> Event:
        if len(asked.body) > MAX_BODY:
            raise Refused("REQUEST_TOO_LARGE")
        try:
            event: Event = self._events.create_lambda_event(asked.method, asked.path, dict(asked.headers))
        except ValueError:
            raise Refused("MISSING_AUTHENTICATION_TOKEN") from None
        if asked.body:  # see infra.gateway.BODIES_AS_BYTES
            event |= {"body": base64.b64encode(asked.body).decode(), "isBase64Encoded": True}
        event["requestContext"] |= {"requestId": request_id, "stage": "api", "protocol": "HTTP/1.1"}
        # Chalice's local gateway passes them on as they came; API Gateway decodes them.
        event["pathParameters"] = {name: unquote(value) for name, value in event["pathParameters"].items()}
        return event


class Guard:
    """The authorizer, asked once a token for as long as its answer counts."""

    def __init__(self, lambdas: Lambdas, clock: Clock) -> None:
        self._lambdas = lambdas
        self._clock = clock
        self._arns = LocalARNBuilder()
        self._kept: dict[tuple[str, str], tuple[datetime, Event]] = {}

    def let_in(self, authorizer: Any, event: Event, asked: Asked) -> Event:
        """What the authorizer says of the caller. Raises `Refused`."""
        token = event["headers"].get("authorization")
        if not token:
            raise Refused("UNAUTHORIZED")
        arn = self._arns.build_arn(asked.method, asked.path)
        said = self._ask(authorizer, token, arn)
        context = {**said.get("context", {}), "principalId": said["principalId"]}
        if not _allowed(said["policyDocument"]["Statement"], arn):
            raise Refused("ACCESS_DENIED", {"authorizer": context})
        return context

    def _ask(self, authorizer: Any, token: str, arn: str) -> Event:
        now = self._clock.now()
        until, said = self._kept.get((authorizer.name, token), (now, None))
        if said is not None and until > now:
            return said
        asked = {"type": "TOKEN", "methodArn": arn, "authorizationToken": token}
        outcome = self._lambdas.answer(authorizer.name, asked)
        if outcome.failed:
            raise Refused("UNAUTHORIZED" if outcome.payload["errorMessage"] == OWN_FAULT else "AUTHORIZER_FAILURE")
        answer: Event = outcome.payload
        self._keep((authorizer.name, token), now, authorizer.config.ttl_seconds, answer)
        return answer

    def _keep(self, who: tuple[str, str], now: datetime, seconds: int | None, said: Event) -> None:
        self._kept = {each: kept for each, kept in self._kept.items() if kept[0] > now}
        self._kept[who] = (now + timedelta(seconds=seconds or 0), said)


def _allowed(statements: list[Event], arn: str) -> bool:
    matched = [each["Effect"] for each in statements if ARNMatcher(arn).does_any_resource_match(each["Resource"])]
    return "Allow" in matched and "Deny" not in matched


def _answer(outcome: Outcome) -> Answer:
    response = outcome.payload
    single = [(name, str(value)) for name, value in (response.get("headers") or {}).items()]
    many = (response.get("multiValueHeaders") or {}).items()
    headers = [*single, *((name, str(value)) for name, values in many for value in values)]
    if "content-type" not in {name.lower() for name, _ in headers}:
        headers.append(("Content-Type", "application/json"))  # what API Gateway takes it for
    body = response.get("body") or ""
    whole = base64.b64decode(body) if response.get("isBase64Encoded") else body.encode()
    return Answer(response["statusCode"], headers, whole)
