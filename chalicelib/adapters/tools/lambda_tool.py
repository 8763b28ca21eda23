"""A function of the account as a tool: invoked by name, once, and with a role, by a right to nothing but that."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ProxyConnectionError,
)

from chalicelib.adapters.tools.toolbox import Tool
from chalicelib.core.declared import LambdaTool
from chalicelib.core.tools import Invocation, ToolResult
from chalicelib.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_sts import STSClient
    from mypy_boto3_sts.type_defs import CredentialsTypeDef

SECONDS_OF_A_ROLE = 900
"""The least that STS gives."""

SECONDS_TO_TELL = 1.0
"""Before a call's deadline: a function that answers later than that is not waited for."""

LEAST_SECONDS = 0.5

LONGEST_MESSAGE = 500
LONGEST_TYPE = 100

NOT_SENT = (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ProxyConnectionError,
)
STOPPED = ("Sandbox.", "Runtime.ExitError", "Runtime.OutOfMemory", "Lambda.Unknown")
"""How the types of errors begin with which Lambda says that it stopped a function in the middle."""

ClientOf = Callable[[float, "CredentialsTypeDef | None"], "LambdaClient"]
"""Seconds to wait for an answer, and whose right to use, to a client that tries once."""


class LambdaTools:
    """`sts` is called only for tools that have a role."""

    def __init__(self, client_of: ClientOf, sts: Callable[[], STSClient], clock: Clock) -> None:
        self._client_of = client_of
        self._sts = sts
        self._clock = clock

    def tool(self, declared: LambdaTool) -> Tool:
        """The function as a tool."""
        return declared.spec, lambda invocation: self._call(declared, invocation)

    def _call(self, declared: LambdaTool, invocation: Invocation) -> ToolResult:
        """Whatever becomes of it is a result; `unknown` where nobody knows what the function did."""
        try:
            client = self._client(declared, invocation)
        except (ClientError, BotoCoreError) as fault:
            return _result(f"The function {declared.function} was not called: {_reason(fault)}.")
        try:
            answer = client.invoke(
                FunctionName=declared.function,
                InvocationType="RequestResponse",
                Payload=json.dumps(_event(invocation)).encode(),
            )
            content = answer["Payload"].read().decode(errors="replace")
        except (ClientError, BotoCoreError) as fault:
            unknown = _may_have_run(fault) and not declared.spec.effect.repeatable
            return _result(f"The function {declared.function} gave no answer: {_reason(fault)}.", unknown)
        return _fault(content, declared) if "FunctionError" in answer else ToolResult(ok=True, content=_text(content))

    def _client(self, declared: LambdaTool, invocation: Invocation) -> LambdaClient:
        credentials = None if declared.role is None else self._assumed(declared.role, declared.function, invocation)
        left = (invocation.deadline - self._clock.now()).total_seconds()
        return self._client_of(max(left - SECONDS_TO_TELL, LEAST_SECONDS), credentials)

    def _assumed(self, role: str, function: str, invocation: Invocation) -> CredentialsTypeDef:
        """The role's right to that one function, for that one call: less than the role has by itself."""
        sts = self._sts()
        return sts.assume_role(
            RoleArn=role,
            RoleSessionName=invocation.run_id,
            Policy=json.dumps(_policy(_function_arn(function, role, sts.meta.region_name))),
            Tags=[{"Key": "run_id", "Value": invocation.run_id}, {"Key": "account_id", "Value": invocation.account_id}],
            DurationSeconds=SECONDS_OF_A_ROLE,
        )["Credentials"]


def _event(invocation: Invocation) -> dict[str, Any]:
    return {
        "args": dict(invocation.call.args),
        "call_id": invocation.call.call_id,
        "run_id": invocation.run_id,
        "account_id": invocation.account_id,
        "deadline": invocation.deadline.isoformat(),
    }


def _policy(function_arn: str) -> dict[str, Any]:
    allowed = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": function_arn}
    return {"Version": "2012-10-17", "Statement": [allowed]}


def _function_arn(function: str, role: str, region: str) -> str:
    """A name means a function of the role's own account, in the region where it is called."""
    if function.startswith("arn:"):
        return function
    _, partition, _, _, account_id, _ = role.split(":", 5)
    return f"arn:{partition}:lambda:{region}:{account_id}:function:{function}"


def _reason(fault: ClientError | BotoCoreError) -> str:
    if not isinstance(fault, ClientError):
        return type(fault).__name__
    error = fault.response["Error"]
    return f"{error.get('Code', 'Unknown')}: {error.get('Message', '')[:LONGEST_MESSAGE]}"


def _may_have_run(fault: ClientError | BotoCoreError) -> bool:
    """A refusal of the service, as 404 or 429, and a connection that never stood say that it did not."""
    if isinstance(fault, ClientError):
        return int(fault.response["ResponseMetadata"]["HTTPStatusCode"]) >= 500
    return not isinstance(fault, NOT_SENT)


def _fault(content: str, declared: LambdaTool) -> ToolResult:
    """What the function raised; one that Lambda stopped in the middle may have done what it was for."""
    told = _parsed(content)
    told = told if isinstance(told, dict) else {}
    kind, message = str(told.get("errorType", "")), str(told.get("errorMessage", ""))[:LONGEST_MESSAGE]
    stopped = not kind or kind.startswith(STOPPED)
    said = f"The function {declared.function} failed with {kind[:LONGEST_TYPE] or 'no reason'}: {message}"
    return _result(said, stopped and not declared.spec.effect.repeatable)


def _text(content: str) -> str:
    """A text as it is, everything else as its JSON."""
    value = _parsed(content)
    return value.encode(errors="replace").decode() if isinstance(value, str) else content


def _parsed(content: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _result(content: str, unknown: bool = False) -> ToolResult:
    return ToolResult(ok=False, content=content, unknown=unknown)
