"""What API Gateway answers by itself, as the template's GatewayResponses say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATUS = {
    "UNAUTHORIZED": 401,
    "ACCESS_DENIED": 403,
    "MISSING_AUTHENTICATION_TOKEN": 403,
    "REQUEST_TOO_LARGE": 413,
    "AUTHORIZER_FAILURE": 500,
    "INTEGRATION_FAILURE": 504,
}
"""Where the template names none."""

EXTENSION = "x-amazon-apigateway-gateway-responses"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Refused(Exception):  # noqa: N818 - named by what happened
    """API Gateway does not let the request through. `known` is what its `$context` has beside the request id."""

    def __init__(self, kind: str, known: Mapping[str, Any] | None = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.known = known or {}


class Refusals:
    """The answers of a stack's API."""

    def __init__(self, responses: Mapping[str, Any]) -> None:
        self._responses = responses

    @classmethod
    def of_template(cls, transformed: Mapping[str, Any]) -> Refusals:
        """From the REST API of a template that SAM has transformed."""
        resources = transformed["Resources"].values()
        bodies = (
            each["Properties"].get("Body", {}) for each in resources if each["Type"] == "AWS::ApiGateway::RestApi"
        )
        return cls({kind: response for body in bodies for kind, response in body.get(EXTENSION, {}).items()})

    def answer(self, refused: Refused, request_id: str) -> Answer:
        status = STATUS[refused.kind]
        default = "DEFAULT_5XX" if status >= 500 else "DEFAULT_4XX"
        found = self._responses.get(refused.kind) or self._responses.get(default) or {}
        context = {**refused.known, "requestId": request_id}
        given = found.get("responseParameters", {}).items()
        headers = [
            (name.removeprefix("gatewayresponse.header."), _mapped(value, context))
            for name, value in given
            if name.startswith("gatewayresponse.header.")
        ]
        template = found.get("responseTemplates", {}).get("application/json", '{"message": "$context.error.message"}')
        return Answer(int(found.get("statusCode", status)), headers, _filled(template, context).encode())


def _mapped(value: str, context: Mapping[str, Any]) -> str:
    """A header's value: a 'constant' or a variable of the context."""
    return value[1:-1] if value.startswith("'") else _filled(f"${value}", context)


def _filled(template: str, context: Mapping[str, Any]) -> str:
    return re.sub(r"\$context\.([A-Za-z_.]*[A-Za-z_])", lambda found: _look_up(context, found[1]), template)


def _look_up(context: Mapping[str, Any], path: str) -> str:
    value: Any = context
    for name in path.split("."):
        value = value.get(name, "") if isinstance(value, Mapping) else ""
    return str(value)
