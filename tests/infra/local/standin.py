"""A small stack in the place of Pawl's: handlers, an API and a template with one of everything that is driven."""

from __future__ import annotations

import json
import os
import threading
from queue import SimpleQueue
from typing import Any

import boto3
from chalice.app import AuthRequest, AuthResponse, Chalice, Response

heard: SimpleQueue[Any] = SimpleQueue()
"""Every event that `tick`, `told` and `records` were invoked with, in this process."""

faults: list[Exception] = []
"""What the next calls of `work` raise."""

going_on = threading.Event()
"""What `hold` waits for."""

unsettled: list[str] = []
"""Bodies of messages that `settle` names as failed."""

holding = threading.Event()
"""While it is set, `settle` waits for `going_on`."""

polling = threading.Semaphore(0)
"""Released by every request that waits."""


def forget() -> None:
    """Begin anew."""
    going_on.clear()
    faults.clear()
    unsettled.clear()
    holding.clear()
    while not heard.empty():
        heard.get()


app = Chalice(app_name="standin", configure_logs=False)
app.api.binary_types = []


def work(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Does the first thing of the event's script: wait n, ask n, end, hold, die."""
    if faults:
        raise faults.pop(0)
    kind, _, number = event["script"][0].partition(" ")
    if kind == "hold":
        going_on.wait()
    if kind == "die":
        os.kill(os.getpid(), int(number))
    return {"script": event["script"][1:], "next": kind, "seconds": int(number or 0)}


def ask(event: dict[str, Any], context: Any) -> None:
    """Tells of the token."""
    heard.put(event["token"])


def tell(event: Any, context: Any) -> None:
    """For ticks, ended executions and stream records."""
    heard.put(event)
    if faults:
        raise faults.pop(0)


def socket(event: Any, context: Any) -> dict[str, int]:
    """Lets in whoever has a good ticket, and says back what begins with "echo"."""
    tell(event, context)
    if event.get("body", "").startswith("echo"):
        client = boto3.client("apigatewaymanagementapi")
        client.post_to_connection(ConnectionId=event["requestContext"]["connectionId"], Data=event["body"].encode())
    bad = (event.get("queryStringParameters") or {}).get("ticket") == "bad"
    return {"statusCode": 401 if bad else 200}


def settle(event: Any, context: Any) -> dict[str, Any]:
    """For messages of a queue: those whose body is among `unsettled` fail, once each."""
    if holding.is_set():
        going_on.wait()
    tell(event, context)
    failed = [each for each in event["Records"] if each["body"] in unsettled]
    for each in failed:
        unsettled.remove(each["body"])
    return {"batchItemFailures": [{"itemIdentifier": each["messageId"]} for each in failed]}


def show(event: Any, context: Any) -> dict[str, Any]:
    """What a function is told."""
    return {
        "event": event,
        "name": context.function_name,
        "arn": context.invoked_function_arn,
        "memory": context.memory_limit_in_mb,
        "id": context.aws_request_id,
        "left": context.get_remaining_time_in_millis(),
        "table": os.environ["TABLE"],
        "pid": os.getpid(),
    }


def count(event: Any, context: Any) -> dict[str, Any]:
    """Asks AWS, whatever that is here."""
    return {"tables": boto3.client("dynamodb").list_tables()["TableNames"]}


def speak(event: dict[str, Any], context: Any) -> None:
    print(event["text"])


@app.authorizer(name="api_auth", ttl_seconds=60)
def api_auth(request: AuthRequest) -> AuthResponse:
    heard.put(request.token)
    if request.token == "broken":
        raise RuntimeError("the table is gone")
    if request.token == "unknown":
        raise RuntimeError("Unauthorized")
    routes: list[Any] = ["*"] if request.token.startswith("good") else []
    return AuthResponse(routes, "somebody", {"token": request.token, "code": "no_such_key"})


@app.route("/echo/{name}", methods=["GET", "POST"], authorizer=api_auth)
def echo(name: str) -> dict[str, Any]:
    request: Any = app.current_request
    first = request.headers.get("x-first")
    if first:
        polling.release()
        going_on.wait()
    return {
        "name": name,
        "caller": request.context["authorizer"]["token"],
        "request_id": request.context["requestId"],
        "query": request.query_params and dict(request.query_params),
        "body": request.raw_body.decode(errors="replace") if request.raw_body else None,
        "bytes": request.raw_body.hex() if request.raw_body else None,
    }


@app.route("/open")
def opened() -> Response:
    return Response("text", {"Content-Type": "text/plain", "Set-Cookie": ["a=1", "b=2"]}, 201)


LOOP = {
    "StartAt": "Work",
    "States": {
        "Work": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"FunctionName": "${Work.Arn}", "Payload.$": "$"},
            "OutputPath": "$.Payload",
            "TimeoutSeconds": 500,
            "Retry": [{"ErrorEquals": ["Flaky", "Lambda.Unknown"], "IntervalSeconds": 30, "MaxAttempts": 2}],
            "Next": "Route",
        },
        "Route": {
            "Type": "Choice",
            "Choices": [
                {"Variable": "$.next", "StringEquals": "wait", "Next": "Wait"},
                {"Variable": "$.next", "StringEquals": "ask", "Next": "Ask"},
            ],
            "Default": "Done",
        },
        "Wait": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Work"},
        "Ask": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
            "Parameters": {"FunctionName": "${Ask.Arn}", "Payload": {"token.$": "$$.Task.Token"}},
            "ResultPath": None,
            "TimeoutSecondsPath": "$.seconds",
            "Next": "Done",
        },
        "Done": {"Type": "Succeed"},
    },
}


def function(handler: str, seconds: int = 60) -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "FunctionName": f"standin-{handler}",
            "Handler": f"tests.infra.local.standin.{handler}",
            "Runtime": "python3.11",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Code": {"S3Bucket": "standin-code", "S3Key": "deployment.zip"},
            "Timeout": seconds,
            "MemorySize": 256,
            "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}},
        },
    }


_ASSUMED = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": ["lambda.amazonaws.com", "states.amazonaws.com"]},
        }
    ],
}


def _rule(**when: Any) -> dict[str, Any]:
    target = {"Arn": {"Fn::GetAtt": ["Tell", "Arn"]}, "Id": "tell"}
    return {"Type": "AWS::Events::Rule", "Properties": {**when, "State": "ENABLED", "Targets": [target]}}


def _ended(machine: str) -> dict[str, Any]:
    arn = {"Fn::Sub": f"arn:aws:states:${{AWS::Region}}:${{AWS::AccountId}}:stateMachine:{machine}"}
    return {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"status": ["FAILED", "ABORTED", "TIMED_OUT"], "stateMachineArn": [arn]},
    }


def template(**more: Any) -> dict[str, Any]:
    """The stack's template, with `more` resources."""
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"Machine": {"Type": "String", "Default": "standin-loop"}},
        "Resources": {
            "Table": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
                    "KeySchema": keys,
                    "TimeToLiveSpecification": {"AttributeName": "expires_at", "Enabled": True},
                    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
                },
            },
            "Bucket": {"Type": "AWS::S3::Bucket"},
            "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": _ASSUMED}},
            "Work": function("work", 300),
            "Ask": function("ask"),
            "Tell": function("tell"),
            "Show": function("show"),
            "Count": function("count"),
            "Speak": function("speak"),
            "Api": function("app"),
            "ApiAuth": function("api_auth"),
            "Loop": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "StateMachineName": {"Ref": "Machine"},
                    "DefinitionString": {"Fn::Sub": json.dumps(LOOP)},
                    "RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
                },
            },
            "Minute": _rule(ScheduleExpression="rate(1 minute)"),
            "Ended": _rule(EventPattern=_ended("standin-loop")),
            **more,
        },
    }


STREAM: dict[str, Any] = {
    "Type": "AWS::Lambda::EventSourceMapping",
    "Properties": {
        "FunctionName": {"Ref": "Tell"},
        "EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]},
        "StartingPosition": "LATEST",
    },
}
"""A mapping of the table's stream to `tell`."""

SOCKET = function("socket")
"""The function behind the WebSockets."""
