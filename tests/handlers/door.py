"""The HTTP doors as a client meets them. Every answer is held against the OpenAPI document on its way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from chalice.app import Chalice
from chalice.test import Client, HTTPResponse
from openapi_schema_validator import OAS31Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from chalicelib.handlers.http_health import OPENAPI

DOCUMENT: dict[str, Any] = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
_REGISTRY: Registry[Any] = Registry().with_resource("urn:pawl", DRAFT202012.create_resource(DOCUMENT))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def code(self) -> str | None:
        """The code, if it is a problem."""
        is_problem = self.headers["Content-Type"] == "application/problem+json"
        return str(self.body["code"]) if is_problem else None


class Door:
    """Asks with one key, or with none."""

    def __init__(self, app: Chalice, secret: str | None = None) -> None:
        self._app = app
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {}

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def put(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("PUT", path, body, **headers)

    def delete(self, path: str) -> Answer:
        return self.ask("DELETE", path, None)

    def ask(self, method: str, path: str, body: Any, **headers: str) -> Answer:
        """`body` is sent as JSON, bytes as they are. In the names of headers an underscore stands for a hyphen."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        with Client(self._app) as client:
            response = client.http.request(method, path, headers=self._headers | given, body=raw)
        answer = _answer(response)
        # What Chalice's imitation of API Gateway refuses by itself looks different when deployed: see infra/gateway.py.
        if "x-amzn-ErrorType" not in response.headers:
            _check(method, path.partition("?")[0], answer)
        return answer


def _answer(response: HTTPResponse) -> Answer:
    is_json = "json" in response.headers.get("Content-Type", "application/json")
    body = json.loads(response.body) if is_json and response.body else response.body.decode()
    return Answer(response.status_code, {"Content-Type": "application/json", **response.headers}, body)


def _check(method: str, path: str, answer: Answer) -> None:
    assert answer.headers["X-Request-Id"]
    if answer.status == 204:
        _, operation = _operation(method, path)
        assert operation is not None
        assert "content" not in operation["responses"]["204"]
        assert answer.body == ""
        return
    schema = _schema(method, path, answer)
    problems = list(OAS31Validator(schema, registry=_REGISTRY).iter_errors(answer.body))
    assert not problems, problems


def _schema(method: str, path: str, answer: Answer) -> dict[str, str]:
    template, operation = _operation(method, path)
    if operation is None:
        assert answer.status == 405
        return {"$ref": "urn:pawl#/components/schemas/Problem"}
    response = operation["responses"][str(answer.status)]
    media_type = answer.headers["Content-Type"]
    if "$ref" in response:
        where = response["$ref"].removeprefix("#")
        assert media_type in DOCUMENT["components"]["responses"][where.rpartition("/")[2]]["content"]
    else:
        where = f"/paths/{template.replace('/', '~1')}/{method.lower()}/responses/{answer.status}"
        assert media_type in response["content"]
    return {"$ref": f"urn:pawl#{where}/content/{media_type.replace('/', '~1')}/schema"}


def _operation(method: str, path: str) -> tuple[str, dict[str, Any] | None]:
    parts = path.split("/")
    for template, item in DOCUMENT["paths"].items():
        named = template.split("/")
        if len(named) == len(parts) and all(a == b or a[:1] == "{" for a, b in zip(named, parts, strict=True)):
            return template, item.get(method.lower())
    raise AssertionError(f"the document has no path {path}")
