"""The OpenAPI document is valid, and describes this API and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from app import app
from chalicelib.core.agent import DEFAULT_BUDGET
from chalicelib.core.api_key import MAX_NAME, Scope
from chalicelib.core.declared_data import MAX_DECLARED, MAX_OUTSIDE_TIMEOUT, MAX_TIMEOUT
from chalicelib.core.errors import PayloadMissing, Refusal
from chalicelib.core.files import INPUTS, MAX_BYTES, MEDIA_TYPES
from chalicelib.core.recipe import ANSWER_WITHIN, MAX_TOOLS
from chalicelib.core.run import Status
from chalicelib.core.task import MAX_BUDGET, MAX_REASON_CHARACTERS, MAX_TAG_NAME, MAX_TAG_VALUE, MAX_TAGS
from chalicelib.edge import door as edge
from chalicelib.handlers import events_query, http, http_health, http_payloads, http_runs
from chalicelib.usecases.put_agent import MAX_AGENTS
from chalicelib.usecases.submit import KEY_COUNTS_FOR
from infra import gateway
from tests.handlers.door import DOCUMENT

ROOT = Path(__file__).parents[2]
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    (method.upper(), path): operation for path, item in DOCUMENT["paths"].items() for method, operation in item.items()
}


def test_the_document_is_valid_openapi() -> None:
    validate(DOCUMENT)


def test_the_document_in_docs_is_the_one_that_is_served() -> None:
    assert (ROOT / "docs" / "openapi.yaml").read_text() == http_health.OPENAPI.read_text()


def test_the_document_has_every_route_and_no_other() -> None:
    ours = {(method, path) for path, methods in app.routes.items() for method in methods}
    assert set(OPERATIONS) == ours | {("GET", edge.STREAM)}


@pytest.mark.parametrize("route", http.ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_document_says_which_scope_a_route_needs(route: http.Route) -> None:
    operation = OPERATIONS[route.method, route.path]

    if route.scope is None:
        assert operation["security"] == []
    else:
        assert operation["description"].startswith(f"Needs the scope `{route.scope}`.")
        assert {"401", "403", "503", "500"} <= operation["responses"].keys()


@pytest.mark.parametrize("route", http.ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_document_has_every_parameter_that_a_route_knows_and_says_that_others_are_refused(
    route: http.Route,
) -> None:
    operation = OPERATIONS[route.method, route.path]

    assert query_of(operation) == {*route.query}
    assert "400" in operation["responses"]


def test_the_document_says_that_whatever_takes_a_body_takes_no_endless_one() -> None:
    takes_a_body = {route for route in OPERATIONS if route[0] in ("POST", "PUT")}
    says = {route for route, each in OPERATIONS.items() if each["responses"].get("413") == TOO_LARGE}

    assert says == takes_a_body
    assert {route for route, each in OPERATIONS.items() if "requestBody" in each} <= takes_a_body


TOO_LARGE = {"$ref": "#/components/responses/RequestTooLarge"}


def test_the_document_has_every_parameter_of_the_edges_stream() -> None:
    assert query_of(OPERATIONS["GET", edge.STREAM]) | {edge.TICKET} == {*edge.STREAM_KNOWS}


def query_of(operation: dict[str, Any]) -> set[str]:
    named = (each.get("$ref", "").rpartition("/")[2] for each in operation.get("parameters", ()))
    parameters = DOCUMENT["components"]["parameters"]
    found = [parameters.get(name, each) for name, each in zip(named, operation.get("parameters", ()), strict=True)]
    return {each["name"] for each in found if each["in"] == "query"}


def test_the_limits_in_the_document_are_the_ones_that_count() -> None:
    metadata, budget = SCHEMAS["Metadata"], SCHEMAS["Budget"]["properties"]
    asked = SCHEMAS["Task"]["properties"]["budget"]["properties"]

    assert metadata["maxProperties"] == MAX_TAGS
    assert metadata["propertyNames"]["maxLength"] == MAX_TAG_NAME
    assert metadata["additionalProperties"]["maxLength"] == MAX_TAG_VALUE
    for limits in (budget, asked):
        assert limits["steps"]["maximum"] == MAX_BUDGET.steps
        assert limits["seconds"]["maximum"] == MAX_BUDGET.seconds
    assert DEFAULT_BUDGET.steps <= MAX_BUDGET.steps
    assert parameter("GET", "/v1/runs", "limit") == (1, http_runs.MAX_LIMIT, http_runs.DEFAULT_LIMIT)
    events = "/v1/runs/{run_id}/events"
    assert parameter("GET", events, "limit") == (1, events_query.MAX_LIMIT, events_query.DEFAULT_LIMIT)
    assert parameter("GET", events, "wait") == (0, events_query.MAX_WAIT, 0)
    cancel = OPERATIONS["POST", "/v1/runs/{run_id}/cancel"]["requestBody"]["content"]["application/json"]["schema"]
    assert cancel["properties"]["reason"]["maxLength"] == MAX_REASON_CHARACTERS
    payload = OPERATIONS["GET", "/v1/runs/{run_id}/payloads/{digest}"]["responses"]
    assert f"more than {http_payloads.MAX_BYTES:,} bytes" in payload["413"]["description"]
    assert payload["200"]["headers"]["Cache-Control"]["schema"]["const"] == http_payloads.FOR_EVER
    assert SCHEMAS["Task"]["properties"]["files"]["maxItems"] == INPUTS.count
    assert f"{INPUTS.bytes:,} bytes" in SCHEMAS["Task"]["properties"]["files"]["description"]
    file = OPERATIONS["POST", "/v1/files"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert file["size"]["maximum"] == MAX_BYTES
    assert set(SCHEMAS["MediaType"]["enum"]) == MEDIA_TYPES
    recipe_of = SCHEMAS["Recipe"]["properties"]
    assert (recipe_of["answer_within"]["minimum"], recipe_of["answer_within"]["maximum"]) == ANSWER_WITHIN
    assert recipe_of["tools"]["maxItems"] == MAX_TOOLS
    assert recipe_of["declared"]["maxItems"] == MAX_DECLARED
    for kind, longest in (("LambdaTool", MAX_TIMEOUT), ("OutsideTool", MAX_OUTSIDE_TIMEOUT)):
        assert SCHEMAS[kind]["properties"]["timeout"]["maximum"] == longest
    assert f"{MAX_AGENTS} agents" in DOCUMENT["components"]["responses"]["AgentConflict"]["description"]
    key = OPERATIONS["POST", "/v1/keys"]["requestBody"]["content"]["application/json"]["schema"]
    assert key["properties"]["name"]["maxLength"] == MAX_NAME


def parameter(method: str, path: str, name: str) -> tuple[int, int, int]:
    [found] = [each for each in OPERATIONS[method, path]["parameters"] if each.get("name") == name]
    return found["schema"]["minimum"], found["schema"]["maximum"], found["schema"]["default"]


def test_the_document_says_how_long_an_idempotency_key_and_a_revoked_key_count() -> None:
    header = OPERATIONS["POST", "/v1/runs"]["parameters"][0]["description"]

    assert f"{KEY_COUNTS_FOR.total_seconds() / 3600:.0f} hours" in header
    assert "60 seconds" in DOCUMENT["info"]["description"]


def test_the_words_in_the_document_are_the_ones_that_count() -> None:
    assert SCHEMAS["Status"]["enum"] == [*Status]
    assert SCHEMAS["Scope"]["enum"] == [*Scope]


def test_the_document_has_every_code_that_is_answered_and_no_other() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "chalicelib").rglob("*.py"))
    refusals = "|".join(each.__name__ for each in Refusal.__subclasses__())
    refused = re.findall(rf'(?:{refusals})\(\s*"(\w+)"', sources)
    answered = re.findall(r'(?:HTTPStatus\.\w+|STATUS_OF\[errors\.\w+\]),\s*"(\w+)"', sources)
    by_the_gateway = [code for each in gateway.responses().values() for code in re.findall(CODE, template(each))]
    made_of_a_name = ["limit_out_of_range", "version_out_of_range", "wait_out_of_range"]

    assert set(SCHEMAS["Code"]["enum"]) == {*refused, *answered, *by_the_gateway, *made_of_a_name, PayloadMissing.code}


CODE = r'"code": "([a-z_]+)"'


def template(answer: dict[str, Any]) -> str:
    return str(answer["ResponseTemplates"]["application/json"])


def test_every_example_in_the_document_is_one() -> None:
    registry: Registry[Any] = Registry().with_resource("urn:pawl", DRAFT202012.create_resource(DOCUMENT))
    shown = [*examples(DOCUMENT, "urn:pawl#")]
    assert len(shown) > 10

    for where, example in shown:
        OAS31Validator({"$ref": f"{where}/schema"}, registry=registry).validate(example)


def examples(node: Any, where: str) -> list[tuple[str, Any]]:
    """Every example that stands beside a schema, with the place where both stand."""
    if isinstance(node, list):
        return [found for index, each in enumerate(node) for found in examples(each, f"{where}/{index}")]
    if not isinstance(node, dict):
        return []
    here = [(where, node["example"])] if "schema" in node and "example" in node else []
    if "schema" in node:
        named = (each.get("$ref", each) for each in node.get("examples", {}).values())
        here += [(where, (followed(each) if isinstance(each, str) else each)["value"]) for each in named]
    inner = (examples(each, f"{where}/{name.replace('~', '~0').replace('/', '~1')}") for name, each in node.items())
    return here + [found for each in inner for found in each]


def followed(reference: str) -> Any:
    return DOCUMENT["components"]["examples"][reference.rpartition("/")[2]]
