"""The merge template: everything of the stack that Chalice does not know, laid over what it packages.

Chalice makes the functions, their roles and the REST API out of app.py and .chalice/; here stand the table, the bucket,
the state machine, the environment, and what API Gateway says by itself. Whatever names the state machine does so by its
fixed name: a reference from a function would close a circle, since the machine refers to the functions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from infra import announcements, edge, gateway, sandbox, socket_api, stream, table, tool_rights

ASL = Path(__file__).with_name("agent_loop.asl.json")

FUNCTIONS = {
    "APIHandler": "app",
    "ApiAuth": "api_auth",
    "Advance": "advance",
    "AwaitAnswer": "await_answer",
    "Abandon": "abandon",
    "Socket": "socket",
    "Deliver": "deliver",
    "Announce": "announce",
    "SendWebhook": "send_webhook",
    "ExecutionEnded": "execution_ended",
    "Tick": "tick",
}
"""The logical id that Chalice derives, and the name of the function in app.py."""

UPLOADS, UPLOAD_DAYS = "files/", 2
"""Uploads that no run can name any more, a day after their rows have expired. Runs have copies of their own."""

LOOP = "pawl-${Stage}-loop"
LOOP_ARN = f"arn:${{AWS::Partition}}:states:${{AWS::Region}}:${{AWS::AccountId}}:stateMachine:{LOOP}"


def merge_template(stage: str) -> dict[str, Any]:
    """The template that `chalice package --merge-template` takes."""
    return {
        "Parameters": {**_parameters(stage), **edge.parameters(), **sandbox.parameters(), **tool_rights.parameters()},
        "Conditions": {**edge.conditions(), **sandbox.conditions(), **tool_rights.conditions()},
        "Globals": {
            "Function": {
                "Environment": {"Variables": _environment()},
                # Lines of the standard `logging` come out as JSON, with what `extra` adds, like those of Powertools.
                "LoggingConfig": {"LogFormat": "JSON", "ApplicationLogLevel": {"Ref": "LogLevel"}},
            }
        },
        "Resources": _resources(),
        "Outputs": {
            "Table": {"Value": {"Ref": "RunsTable"}},
            "Payloads": {"Value": {"Ref": "PayloadBucket"}},
            "StateMachineArn": {"Value": {"Ref": "AgentLoop"}},
            **announcements.outputs(),
            **edge.outputs(),
            **socket_api.outputs(),
        },
    }


def _resources() -> dict[str, Any]:
    return {
        "RunsTable": _kept({"Type": "AWS::DynamoDB::Table", "Properties": table.properties()}),
        "PayloadBucket": _kept({"Type": "AWS::S3::Bucket", "Properties": _bucket()}),
        "AgentLoop": _loop(),
        "AgentLoopRole": _loop_role(),
        "RestAPI": {
            "Properties": {
                "Name": {"Fn::Sub": "pawl-${Stage}"},
                "GatewayResponses": gateway.responses(),
                "DefinitionBody": gateway.BODIES_AS_BYTES,
            }
        },
        # Chalice names this one after a function `ApiHandler`, which there is not.
        "ApiHandlerLogGroup": {"Properties": {"LogGroupName": {"Fn::Sub": "/aws/lambda/${APIHandler}"}}},
        **announcements.resources(),
        **_functions(),
        **edge.resources(LOOP_ARN),
        **socket_api.resources(),
        **tool_rights.resources(),
        **sandbox.resources(_environment()),
    }


def _parameters(stage: str) -> dict[str, Any]:
    return {
        "Stage": _parameter("Names the stack's functions and its state machine.", stage, "^[a-z][a-z0-9-]{0,19}$"),
        "ModelUrl": _parameter("Base URL of an OpenAI-compatible API; empty: the scripted agents only.", ""),
        "ModelName": _parameter("The model to ask for there.", ""),
        "ModelKeyParameter": _parameter(
            "Name of the SSM SecureString with the API's key; empty: none is sent.", "", "^((/[A-Za-z0-9_.-]+)+)?$"
        ),
        "TicketSecretParameter": _parameter(
            "Name of the SSM SecureString that tickets are signed with.", "/pawl/ticket-secret", "^(/[A-Za-z0-9_.-]+)+$"
        ),
        "EmailFrom": _parameter(
            "The address that runs send mail from; empty: they send none.", "", "^([^@ ]+@[^@ ]+)?$"
        ),
        "EmailIdentity": _parameter("The address or domain that SES has verified for it.", "", "^[A-Za-z0-9@._+-]*$"),
        "StepsPerSlice": _parameter(
            "Steps that one Lambda invocation does; 0: as many as fit its time.", "0", "^[0-9]+$"
        ),
        "RunsAtOnce": _parameter("Runs of one account that are at work at once.", "100", "^([1-9][0-9]{0,2}|1000)$"),
        "RetentionHours": _parameter("Hours until the log of an ended run becomes an archive.", "24", "^[1-9][0-9]*$"),
        "ReplayCap": _parameter(
            "Events that a client is given again before it gets a snapshot.", "1000", "^[1-9][0-9]*$"
        ),
        "LogLevel": _parameter("DEBUG, INFO, WARN or ERROR.", "INFO", "^(DEBUG|INFO|WARN|ERROR)$"),
    }


def _parameter(description: str, default: str, pattern: str = ".*") -> dict[str, Any]:
    return {"Type": "String", "Description": description, "Default": default, "AllowedPattern": pattern}


def _environment() -> dict[str, Any]:
    return {
        "PAWL_TABLE": {"Ref": "RunsTable"},
        "PAWL_BUCKET": {"Ref": "PayloadBucket"},
        "PAWL_STATE_MACHINE_ARN": {"Fn::Sub": LOOP_ARN},
        "PAWL_EMAIL_FROM": {"Ref": "EmailFrom"},
        "PAWL_SECRETS_PREFIX": {"Fn::Sub": "/pawl/${Stage}/secrets"},
        "PAWL_MODEL_URL": {"Ref": "ModelUrl"},
        "PAWL_MODEL_NAME": {"Ref": "ModelName"},
        "PAWL_MODEL_KEY_PARAMETER": {"Ref": "ModelKeyParameter"},
        "PAWL_TICKET_SECRET_PARAMETER": {"Ref": "TicketSecretParameter"},
        "STEPS_PER_SLICE": {"Ref": "StepsPerSlice"},
        "RUNS_AT_ONCE": {"Ref": "RunsAtOnce"},
        "RETENTION_HOURS": {"Ref": "RetentionHours"},
        "REPLAY_CAP": {"Ref": "ReplayCap"},
        **announcements.environment(),
        **sandbox.environment(),
    }


def _functions() -> dict[str, Any]:
    functions: dict[str, Any] = {
        logical_id: {"Properties": {"FunctionName": {"Fn::Sub": f"pawl-${{Stage}}-{name}"}}}
        for logical_id, name in FUNCTIONS.items()
    }
    ours_only = {"Properties": {"Pattern": {"detail": {"stateMachineArn": [{"Fn::Sub": LOOP_ARN}]}}}}
    functions["ExecutionEnded"]["Properties"]["Events"] = {"ExecutionEndedEvent": ours_only}
    wakes = stream.consumer(stream.STATE_EVENTS, stream.WATCHED_DELTAS)
    functions["Deliver"]["Properties"]["Events"] = {"Stream": wakes}
    for sends in ("Socket", "Deliver"):
        functions[sends]["Properties"]["Environment"] = {"Variables": socket_api.ENVIRONMENT}
    functions["Announce"]["Properties"]["Events"] = {"Stream": announcements.woken_by_the_stream()}
    functions["SendWebhook"]["Properties"]["Events"] = {"Queue": announcements.woken_by_the_queue()}
    return functions


def _kept(resource: dict[str, Any]) -> dict[str, Any]:
    return {**resource, "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def _bucket() -> dict[str, Any]:
    abort = {"Id": "abort-multipart", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
    unused = {"Id": "unused-uploads", "Status": "Enabled", "Prefix": UPLOADS, "ExpirationInDays": UPLOAD_DAYS}
    closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    return {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
        },
        "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
        "PublicAccessBlockConfiguration": dict.fromkeys(closed, True),
        "LifecycleConfiguration": {"Rules": [abort, unused]},
    }


def _loop() -> dict[str, Any]:
    return {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "StateMachineName": {"Fn::Sub": LOOP},
            "StateMachineType": "STANDARD",
            # Fn::Sub, not DefinitionSubstitutions: moto knows only the former.
            "DefinitionString": {"Fn::Sub": ASL.read_text()},
            "RoleArn": {"Fn::GetAtt": ["AgentLoopRole", "Arn"]},
        },
    }


def _loop_role() -> dict[str, Any]:
    invoked = [{"Fn::GetAtt": [name, "Arn"]} for name in ("Advance", "AwaitAnswer", "Abandon")]
    invoke = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": invoked}
    states = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "states.amazonaws.com"}}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [states]},
            "Policies": [
                {"PolicyName": "InvokeTheLoop", "PolicyDocument": {"Version": "2012-10-17", "Statement": [invoke]}}
            ],
        },
    }
