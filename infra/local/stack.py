"""The stack: the packaged template brought up in moto, and what came out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import boto3

from infra.local.functions import Function

NAME = "pawl"
REGION = "us-east-1"
CODE = b"the code runs from the working directory"

Template = Mapping[str, Any]


@dataclass(frozen=True)
class Stack:
    """Its functions by their names, and the names that CloudFormation gave to tables and buckets."""

    functions: Mapping[str, Function]
    tables: Mapping[str, str]
    buckets: Mapping[str, str]
    expiry: Mapping[str, str]
    """Of each table that has one, by its given name: the attribute that says until when an item lives."""

    @property
    def environment(self) -> dict[str, str]:
        """Of all functions together: in one process they share it."""
        return {name: value for function in self.functions.values() for name, value in function.environment.items()}


def bring_up(template: Template, parameters: Mapping[str, str]) -> Stack:
    """Create the stack from a template that moto's CloudFormation understands."""
    _provide_code(template)
    client = boto3.client("cloudformation", region_name=REGION)
    given = [{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()]
    client.create_stack(StackName=NAME, TemplateBody=json.dumps(template), Parameters=given)
    state = client.describe_stacks(StackName=NAME)["Stacks"][0]
    if state["StackStatus"] != "CREATE_COMPLETE":
        raise RuntimeError(f"the stack is {state['StackStatus']}: {state.get('StackStatusReason')}")
    made = client.describe_stack_resources(StackName=NAME)["StackResources"]
    physical = {each["LogicalResourceId"]: each.get("PhysicalResourceId", "") for each in made}
    tables = _named(template, "AWS::DynamoDB::Table", physical)
    return Stack(
        functions=_functions(),
        tables=tables,
        buckets=_named(template, "AWS::S3::Bucket", physical),
        expiry=_expire(template, tables),
    )


def take_down() -> None:
    """Delete the stack."""
    boto3.client("cloudformation", region_name=REGION).delete_stack(StackName=NAME)


def _named(template: Template, kind: str, physical: Mapping[str, str]) -> dict[str, str]:
    return {name: physical[name] for name, each in template["Resources"].items() if each["Type"] == kind}


def _functions() -> dict[str, Function]:
    pages = boto3.client("lambda", region_name=REGION).get_paginator("list_functions").paginate()
    return {each["FunctionName"]: _function(each) for page in pages for each in page["Functions"]}


def _function(described: Any) -> Function:
    return Function(
        name=described["FunctionName"],
        arn=described["FunctionArn"],
        handler=described["Handler"],
        environment=described.get("Environment", {}).get("Variables", {}),
        seconds=described["Timeout"],
        memory=described["MemorySize"],
    )


def _expire(template: Template, tables: Mapping[str, str]) -> dict[str, str]:
    """moto's CloudFormation passes over TimeToLiveSpecification."""
    client = boto3.client("dynamodb", region_name=REGION)
    attributes = {}
    for logical, name in tables.items():
        if wanted := template["Resources"][logical]["Properties"].get("TimeToLiveSpecification"):
            client.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
            attributes[name] = wanted["AttributeName"]
    return attributes


def _provide_code(template: Template) -> None:
    """Put something where the template looks for code: moto wants an object there, and nothing ever opens it."""
    client = boto3.client("s3", region_name=REGION)
    for each in template["Resources"].values():
        code = each.get("Properties", {}).get("Code", {}) if each["Type"] == "AWS::Lambda::Function" else {}
        if "S3Bucket" in code:
            client.create_bucket(Bucket=code["S3Bucket"])
            client.put_object(Bucket=code["S3Bucket"], Key=code["S3Key"], Body=CODE)
