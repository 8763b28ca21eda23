"""The WebSocket API in the template: three routes, one function behind all of them.

Plain resources, not Chalice's decorators: those make three functions, deploy no later change of a route, want a session
of boto3 at import, and can't be run on the laptop any better than these.
"""

from __future__ import annotations

from typing import Any

NAME = "SocketApi"
STAGE = "live"
ROUTES = {"Connect": "$connect", "Disconnect": "$disconnect", "Default": "$default"}
"""Messages all come by the default route: what they ask for is for the handler to read, and to refuse."""

_HOST = f"${{{NAME}}}.execute-api.${{AWS::Region}}.${{AWS::URLSuffix}}/{STAGE}"

ENVIRONMENT = {"PAWL_SOCKET_ENDPOINT": {"Fn::Sub": f"https://{_HOST}"}}
"""For the functions that send to sockets."""


def outputs() -> dict[str, Any]:
    return {"SocketUrl": {"Value": {"Fn::Sub": f"wss://{_HOST}"}}}


def resources() -> dict[str, Any]:
    made = {
        NAME: _resource(
            "Api",
            Name={"Fn::Sub": "pawl-${Stage}-socket"},
            ProtocolType="WEBSOCKET",
            RouteSelectionExpression="$request.body.action",
        ),
        f"{NAME}Integration": _resource(
            "Integration", ApiId={"Ref": NAME}, IntegrationType="AWS_PROXY", IntegrationUri={"Fn::Sub": _INVOCATION}
        ),
        f"{NAME}Stage": _resource("Stage", ApiId={"Ref": NAME}, StageName=STAGE, AutoDeploy=True),
        f"{NAME}Permission": {"Type": "AWS::Lambda::Permission", "Properties": _PERMISSION},
    }
    return made | {f"{NAME}{name}Route": _route(key) for name, key in ROUTES.items()}


_INVOCATION = (
    "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${Socket.Arn}/invocations"
)

_PERMISSION = {
    "Action": "lambda:InvokeFunction",
    "FunctionName": {"Ref": "Socket"},
    "Principal": "apigateway.amazonaws.com",
    "SourceArn": {"Fn::Sub": f"arn:${{AWS::Partition}}:execute-api:${{AWS::Region}}:${{AWS::AccountId}}:${{{NAME}}}/*"},
}


def _route(key: str) -> dict[str, Any]:
    # Open to everyone: who connects is decided by the ticket, which the function reads.
    target = {"Fn::Sub": f"integrations/${{{NAME}Integration}}"}
    return _resource("Route", ApiId={"Ref": NAME}, RouteKey=key, AuthorizationType="NONE", Target=target)


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::ApiGatewayV2::{kind}", "Properties": properties}
