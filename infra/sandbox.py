"""The code sandbox in the template: a function of its own, in a network of its own that leads nowhere.

It is there only if `CodeSandbox` is `on`. An idle one costs nothing: a network without a gateway is free, and so is a
function that nobody calls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from chalicelib.adapters.sandbox.wire import FUNCTION_SECONDS

NAME = "Sandbox"
CODE = "./sandbox.zip"
HANDLER = "chalicelib.adapters.sandbox.on_lambda.handler"
FUNCTION = "pawl-${Stage}-sandbox"
FUNCTION_ARN = f"arn:${{AWS::Partition}}:lambda:${{AWS::Region}}:${{AWS::AccountId}}:function:{FUNCTION}"
CONDITION = "WithSandbox"
NETWORK, HALVES = "10.255.255.0/24", ("10.255.255.0/25", "10.255.255.128/25")

_INTERFACES = ["ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DeleteNetworkInterface"]


def parameters() -> dict[str, Any]:
    return {
        "CodeSandbox": {
            "Type": "String",
            "Description": "on: agents may run code, in a function without permissions and without a network.",
            "Default": "off",
            "AllowedValues": ["on", "off"],
        }
    }


def conditions() -> dict[str, Any]:
    return {CONDITION: {"Fn::Equals": [{"Ref": "CodeSandbox"}, "on"]}}


def environment() -> dict[str, Any]:
    """What every function is told of it."""
    return {
        "PAWL_SANDBOX": {"Fn::If": [CONDITION, "lambda", "off"]},
        "PAWL_SANDBOX_FUNCTION": {"Fn::If": [CONDITION, {"Fn::Sub": FUNCTION}, ""]},
    }


def resources(variables: Iterable[str]) -> dict[str, Any]:
    """`variables`: those of every function, which this one is to know nothing of."""
    unknown = {"Environment": {"Variables": dict.fromkeys(variables, "")}}
    made = {
        NAME: ("AWS::Serverless::Function", {**_function(), **unknown}),
        f"{NAME}Role": ("AWS::IAM::Role", _role()),
        f"{NAME}Network": ("AWS::EC2::VPC", {"CidrBlock": NETWORK, "EnableDnsSupport": False}),
        f"{NAME}Group": ("AWS::EC2::SecurityGroup", _group()),
        **{f"{NAME}Subnet{place}": ("AWS::EC2::Subnet", _subnet(place)) for place in range(len(HALVES))},
    }
    return {name: {"Type": kind, "Condition": CONDITION, "Properties": of} for name, (kind, of) in made.items()}


def _function() -> dict[str, Any]:
    subnets = [{"Ref": f"{NAME}Subnet{place}"} for place in range(len(HALVES))]
    return {
        "FunctionName": {"Fn::Sub": FUNCTION},
        "CodeUri": CODE,
        "Handler": HANDLER,
        "Runtime": f"python{sys.version_info.major}.{sys.version_info.minor}",
        # The machine whose filter on system calls was run in a kernel.
        "Architectures": ["x86_64"],
        "MemorySize": 512,
        "Timeout": FUNCTION_SECONDS,
        "EphemeralStorage": {"Size": 512},
        "Role": {"Fn::GetAtt": [f"{NAME}Role", "Arn"]},
        "TenancyConfig": {"TenantIsolationMode": "PER_TENANT"},
        "VpcConfig": {"SubnetIds": subnets, "SecurityGroupIds": [{"Ref": f"{NAME}Group"}]},
    }


def _role() -> dict[str, Any]:
    """Lambda itself needs it to plug the function into the network; the function's own code may do nothing with it."""
    assume = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
    plug_in = {"Effect": "Allow", "Action": _INTERFACES, "Resource": "*"}
    by_code = {"ArnEquals": {"lambda:SourceFunctionArn": {"Fn::Sub": FUNCTION_ARN}}}
    nothing = {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": by_code}
    return {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [assume]},
        "Policies": [
            {"PolicyName": "Nothing", "PolicyDocument": {"Version": "2012-10-17", "Statement": [plug_in, nothing]}}
        ],
    }


def _group() -> dict[str, Any]:
    # With no rule at all, EC2 puts one there that lets everything out.
    nowhere = {"IpProtocol": "-1", "CidrIp": "127.0.0.1/32", "Description": "Nowhere"}
    return {
        "GroupDescription": "Nothing in, nothing out",
        "VpcId": {"Ref": f"{NAME}Network"},
        "SecurityGroupEgress": [nowhere],
    }


def _subnet(place: int) -> dict[str, Any]:
    zone = {"Fn::Select": [place, {"Fn::GetAZs": ""}]}
    return {"VpcId": {"Ref": f"{NAME}Network"}, "CidrBlock": HALVES[place], "AvailabilityZone": zone}
