"""Real WebSockets in front of a handler, and the way back to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from infra.local.cloud import LocalCloud
from infra.local.gateway import LARGEST_MESSAGE
from tests.infra.local import standin
from tests.infra.local.conftest import BringUp, options

SECONDS = 10
CLOSED_FOR_SIZE = 1009


def _open(cloud: LocalCloud, path: str = "/v1/socket?ticket=good") -> ClientConnection:
    return connect(f"{cloud.url.replace('http', 'ws', 1)}{path}", proxy=None)


def _heard() -> dict[str, Any]:
    event: dict[str, Any] = standin.heard.get(timeout=SECONDS)
    return event


def _connection_id() -> str:
    return str(_heard()["requestContext"]["connectionId"])


@pytest.fixture
def cloud(bring_up: BringUp) -> LocalCloud:
    return bring_up(template=standin.template(Socket=standin.SOCKET))


def test_a_handler_hears_of_a_socket_s_opening_its_messages_and_its_end(cloud: LocalCloud) -> None:
    with _open(cloud) as socket:
        opened = _heard()
        socket.send("first")
        socket.send(b"second")
        messages = [_heard(), _heard()]
    closed = _heard()

    routes = [event["requestContext"]["routeKey"] for event in (opened, *messages, closed)]
    assert routes == ["$connect", "$default", "$default", "$disconnect"]
    assert opened["queryStringParameters"] == {"ticket": "good"}
    assert [(event["body"], event["isBase64Encoded"]) for event in messages] == [("first", False), ("c2Vjb25k", True)]
    assert len({event["requestContext"]["connectionId"] for event in (opened, *messages, closed)}) == 1


def test_a_socket_that_the_handler_refuses_does_not_open(cloud: LocalCloud) -> None:
    with pytest.raises(InvalidStatus) as refused:
        _open(cloud, "/v1/socket?ticket=bad")
    assert refused.value.response.status_code == 401
    _heard()
    assert standin.heard.empty(), "what never opened does not close"


def test_there_is_one_path_for_sockets(cloud: LocalCloud) -> None:
    with pytest.raises(InvalidStatus) as refused:
        _open(cloud, "/v1/runs")
    assert refused.value.response.status_code == 404


def test_what_is_posted_to_a_connection_reaches_its_socket_and_no_other(cloud: LocalCloud) -> None:
    sockets = cloud.client("apigatewaymanagementapi")
    with _open(cloud) as first, _open(cloud) as second:
        ids = [_connection_id(), _connection_id()]
        for number, connection_id in enumerate(ids):
            sockets.post_to_connection(ConnectionId=connection_id, Data=f"to {number}".encode())
        assert [socket.recv(SECONDS) for socket in (first, second)] == ["to 0", "to 1"]


def test_a_connection_that_is_closed_is_gone(cloud: LocalCloud) -> None:
    sockets = cloud.client("apigatewaymanagementapi")
    with _open(cloud):
        connection_id = _connection_id()
    _heard()
    with pytest.raises(sockets.exceptions.GoneException) as gone:
        sockets.post_to_connection(ConnectionId=connection_id, Data=b"x")
    assert gone.value.response["ResponseMetadata"]["HTTPStatusCode"] == 410
    with pytest.raises(sockets.exceptions.GoneException):
        sockets.delete_connection(ConnectionId=connection_id)


def test_a_connection_can_be_closed_from_inside(cloud: LocalCloud) -> None:
    with _open(cloud) as socket:
        cloud.client("apigatewaymanagementapi").delete_connection(ConnectionId=_connection_id())
        with pytest.raises(ConnectionClosed):
            socket.recv(SECONDS)


def test_a_message_that_is_too_large_closes_the_socket(cloud: LocalCloud) -> None:
    with _open(cloud) as socket:
        socket.send("x" * (LARGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(SECONDS)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == CLOSED_FOR_SIZE


def test_a_handler_that_fails_is_told_of_and_the_socket_stays_open(cloud: LocalCloud) -> None:
    with _open(cloud) as socket:
        _heard()
        standin.faults.append(RuntimeError("oops"))
        socket.send("x")
        assert json.loads(socket.recv(SECONDS))["message"] == "Internal server error"
        socket.send("again")
        assert [_heard()["body"] for _ in range(2)] == ["x", "again"]


def test_a_lambda_in_a_process_of_its_own_reaches_the_socket() -> None:
    own = options(processes=True, template=standin.template(Socket=standin.SOCKET))
    with LocalCloud(own) as cloud, _open(cloud) as socket:
        socket.send("echo hello")
        assert socket.recv(SECONDS) == "echo hello"
