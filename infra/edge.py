"""The streaming edge in the template: a function of its own, behind the Lambda Web Adapter, with a URL that streams.

It is there only if the adapter's layer is named: the layer is somebody else's, and differs by region. The URL lets
everyone in; the edge asks for the API key itself, as the REST API's authorizer does.
"""

from __future__ import annotations

import sys
from typing import Any

from chalicelib.adapters.dynamodb import keys

NAME = "Edge"
CODE = "./edge.zip"
STREAM_SECONDS, TIMEOUT = 840, 900
"""A stream ends by itself a minute before Lambda would cut it off."""

ENVIRONMENT = {
    "AWS_LAMBDA_EXEC_WRAPPER": "/opt/bootstrap",
    "AWS_LWA_INVOKE_MODE": "response_stream",
    "AWS_LWA_PORT": "8080",
    "AWS_LWA_READINESS_CHECK_PATH": "/healthz",
    "PAWL_EDGE_PORT": "8080",
    "PAWL_STREAM_SECONDS": str(STREAM_SECONDS),
}
"""For the adapter, and for the server behind it; added to what every function has."""


def parameters() -> dict[str, Any]:
    return {
        "EdgeAdapterLayer": {
            "Type": "String",
            "Description": "ARN of the Lambda Web Adapter's layer for arm64; empty: no streaming edge.",
            "Default": "",
            "AllowedPattern": "^(arn:[a-z-]+:lambda:[a-z0-9-]+:[0-9]{12}:layer:[A-Za-z0-9_-]+:[0-9]+)?$",
        }
    }


def conditions() -> dict[str, Any]:
    return {"WithEdge": {"Fn::Not": [{"Fn::Equals": [{"Ref": "EdgeAdapterLayer"}, ""]}]}}


def outputs() -> dict[str, Any]:
    return {"EdgeUrl": {"Condition": "WithEdge", "Value": {"Fn::GetAtt": [f"{NAME}Url", "FunctionUrl"]}}}


def resources(loop_arn: str) -> dict[str, Any]:
    """`loop_arn`: what the state machine is called, for Fn::Sub."""
    made: dict[str, Any] = {
        NAME: {"Type": "AWS::Serverless::Function", "Properties": _function()},
        f"{NAME}Role": {"Type": "AWS::IAM::Role", "Properties": _role(loop_arn)},
        f"{NAME}LogGroup": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": {"Fn::Sub": "/aws/lambda/pawl-${Stage}-edge"}, "RetentionInDays": 30},
        },
    }
    return {name: {"Condition": "WithEdge", **resource} for name, resource in made.items()}


def _function() -> dict[str, Any]:
    return {
        "FunctionName": {"Fn::Sub": "pawl-${Stage}-edge"},
        "CodeUri": CODE,
        "Handler": "run.sh",
        # Chalice gives the other functions the Python that packages them.
        "Runtime": f"python{sys.version_info.major}.{sys.version_info.minor}",
        "Architectures": ["arm64"],
        "MemorySize": 256,
        "Timeout": TIMEOUT,
        "Layers": [{"Ref": "EdgeAdapterLayer"}],
        "Role": {"Fn::GetAtt": [f"{NAME}Role", "Arn"]},
        "Environment": {"Variables": ENVIRONMENT},
        "FunctionUrlConfig": {"AuthType": "NONE", "InvokeMode": "RESPONSE_STREAM"},
    }


def _role(loop_arn: str) -> dict[str, Any]:
    assume = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
    return {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [assume]},
        "Policies": [
            {
                "PolicyName": "Stream",
                "PolicyDocument": {"Version": "2012-10-17", "Statement": _statements(loop_arn)},
            }
        ],
    }


def _statements(loop_arn: str) -> list[dict[str, Any]]:
    """Read logs, keys and tickets, stamp runs as watched, and submit."""
    log = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:/aws/lambda/pawl-${Stage}-edge:*"
    ticket = "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}:parameter${TicketSecretParameter}"
    table, bucket = {"Fn::GetAtt": ["RunsTable", "Arn"]}, {"Fn::GetAtt": ["PayloadBucket", "Arn"]}
    return [
        _may(["logs:CreateLogStream", "logs:PutLogEvents"], {"Fn::Sub": log}),
        _may(["dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:UpdateItem"], table),
        _may(["s3:GetObject", "s3:PutObject"], {"Fn::Sub": "${PayloadBucket.Arn}/*"}),
        _may(["s3:ListBucket"], bucket),
        # The copies of files that were made for a run which an earlier request had made already.
        _may(["dynamodb:DeleteItem"], table) | {"Condition": _partitions(keys.RUN_FILES_PK)},
        _may(["s3:DeleteObject"], {"Fn::Sub": "${PayloadBucket.Arn}/run-files/*"}),
        _may(["states:StartExecution"], {"Fn::Sub": loop_arn}),
        _may(["ssm:GetParameter"], {"Fn::Sub": ticket}),
    ]


def _partitions(prefix: str) -> dict[str, Any]:
    return {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{prefix}*"]}}


def _may(actions: list[str], resource: dict[str, Any]) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}
