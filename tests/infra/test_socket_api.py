"""The WebSocket API of the template: one function behind every route, and who may send."""

from __future__ import annotations

import json
from typing import Any

from infra import socket_api
from infra.build import Built, for_moto
from infra.package import ROOT

ENDPOINT = "PAWL_SOCKET_ENDPOINT"


def _of_type(built: Built, kind: str) -> dict[str, Any]:
    resources = built.transformed["Resources"].items()
    return {name: each["Properties"] for name, each in resources if each["Type"] == kind}


def test_opening_messages_and_closing_all_lead_to_the_one_function(built: Built) -> None:
    routes = _of_type(built, "AWS::ApiGatewayV2::Route").values()
    [integration] = _of_type(built, "AWS::ApiGatewayV2::Integration").values()

    assert {route["RouteKey"] for route in routes} == {"$connect", "$disconnect", "$default"}
    assert {route["Target"]["Fn::Sub"] for route in routes} == {"integrations/${SocketApiIntegration}"}
    assert "${Socket.Arn}" in integration["IntegrationUri"]["Fn::Sub"]


def test_a_changed_route_is_deployed(built: Built) -> None:
    [stage] = _of_type(built, "AWS::ApiGatewayV2::Stage").values()

    assert stage["AutoDeploy"] is True
    assert stage["StageName"] == socket_api.STAGE


def test_the_functions_that_send_know_where_and_may_and_nobody_else_does(built: Built) -> None:
    functions = _of_type(built, "AWS::Lambda::Function")
    told = {name for name, each in functions.items() if ENDPOINT in each["Environment"]["Variables"]}
    policies = {path.stem: path.read_text() for path in (ROOT / ".chalice" / "policies").iterdir()}

    assert told == {"Socket", "Deliver"}
    assert {name for name, text in policies.items() if "execute-api:ManageConnections" in text} == {"socket", "deliver"}


def test_only_those_who_sign_or_read_tickets_may_have_the_secret() -> None:
    policies = {path.stem: json.loads(path.read_text()) for path in (ROOT / ".chalice" / "policies").iterdir()}
    may = {name for name, each in policies.items() for one in each["Statement"] if one["Sid"] == "TicketSecret"}

    assert may == {"app", "socket"}


def test_for_moto_nothing_is_left_that_leads_to_the_api(built: Built) -> None:
    assert socket_api.NAME not in json.dumps(for_moto(built.transformed)["Resources"])
