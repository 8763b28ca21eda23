"""Sockets that API Gateway holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.core.errors import Unavailable
from chalicelib.ports.sockets import Gone

if TYPE_CHECKING:
    from mypy_boto3_apigatewaymanagementapi import ApiGatewayManagementApiClient


class ApiGatewaySockets:
    """`Sockets`."""

    def __init__(self, client: ApiGatewayManagementApiClient) -> None:
        self._client = client

    def post(self, connection_id: str, frame: str) -> None:
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=frame.encode())
        except (ClientError, BotoCoreError) as fault:
            if _is_gone(fault):
                raise Gone(connection_id) from fault
            raise Unavailable(f"{connection_id} was not reached: {fault}") from fault

    def close(self, connection_id: str) -> None:
        try:
            self._client.delete_connection(ConnectionId=connection_id)
        except (ClientError, BotoCoreError) as fault:
            if not _is_gone(fault):
                raise Unavailable(f"{connection_id} was not closed: {fault}") from fault


def _is_gone(fault: Exception) -> bool:
    return isinstance(fault, ClientError) and fault.response["Error"]["Code"] == "GoneException"
