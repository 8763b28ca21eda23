"""What API Gateway says of a socket, in our words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import ConnectTimeoutError
from botocore.stub import Stubber

from chalicelib.adapters.aws.api_gateway_sockets import ApiGatewaySockets
from chalicelib.adapters.aws.clients import client
from chalicelib.core.errors import Unavailable
from chalicelib.ports.sockets import Gone

if TYPE_CHECKING:
    from mypy_boto3_apigatewaymanagementapi import ApiGatewayManagementApiClient

ENDPOINT = "https://abc.execute-api.eu-west-1.amazonaws.com/live"


@pytest.fixture
def api(aws: None) -> ApiGatewayManagementApiClient:
    return client("apigatewaymanagementapi", ENDPOINT)


@pytest.fixture
def stubbed(api: ApiGatewayManagementApiClient) -> Iterator[Stubber]:
    with Stubber(api) as stubbed:
        yield stubbed
        stubbed.assert_no_pending_responses()


def test_a_frame_is_posted_to_its_connection(api: ApiGatewayManagementApiClient, stubbed: Stubber) -> None:
    stubbed.add_response("post_to_connection", {}, {"ConnectionId": "c1=", "Data": "é".encode()})

    ApiGatewaySockets(api).post("c1=", "é")


def test_a_closed_connection_is_gone(api: ApiGatewayManagementApiClient, stubbed: Stubber) -> None:
    stubbed.add_client_error("post_to_connection", "GoneException", http_status_code=410)

    with pytest.raises(Gone):
        ApiGatewaySockets(api).post("c1=", "x")


@pytest.mark.parametrize(
    ("code", "status"), [("LimitExceededException", 429), ("ForbiddenException", 403), ("InternalServerError", 500)]
)
def test_whatever_else_is_in_the_way_of_one_socket_is_no_more_than_that(
    api: ApiGatewayManagementApiClient, stubbed: Stubber, code: str, status: int
) -> None:
    stubbed.add_client_error("post_to_connection", code, http_status_code=status)
    with pytest.raises(Unavailable):
        ApiGatewaySockets(api).post("c1=", "x")

    stubbed.add_client_error("delete_connection", code, http_status_code=status)
    with pytest.raises(Unavailable):
        ApiGatewaySockets(api).close("c1=")


def test_a_gateway_that_does_not_answer_is_no_more_than_that(
    api: ApiGatewayManagementApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(**_: object) -> None:
        raise ConnectTimeoutError(endpoint_url=ENDPOINT)

    monkeypatch.setattr(api, "post_to_connection", late)
    with pytest.raises(Unavailable):
        ApiGatewaySockets(api).post("c1=", "x")


def test_closing_what_is_closed_is_nothing(api: ApiGatewayManagementApiClient, stubbed: Stubber) -> None:
    stubbed.add_response("delete_connection", {}, {"ConnectionId": "c1="})
    stubbed.add_client_error("delete_connection", "GoneException", http_status_code=410)

    ApiGatewaySockets(api).close("c1=")
    ApiGatewaySockets(api).close("c1=")


def test_sockets_are_reached_at_the_api_s_own_address(api: ApiGatewayManagementApiClient) -> None:
    assert api.meta.endpoint_url == ENDPOINT
