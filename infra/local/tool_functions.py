"""Functions of one's own beside those of the stack, so that an agent's Lambda tool can be tried on the laptop."""

from __future__ import annotations

import json
from collections.abc import Mapping

import boto3

from infra.local.stack import REGION

ROLE = "own-functions"
SECONDS, MEMORY = 60, 256


def provide(handlers: Mapping[str, str]) -> None:
    """Each by its name; a handler is `module.function`. Before the stack comes up, which then finds them too."""
    if not handlers:
        return
    trust = {"Version": "2012-10-17", "Statement": []}
    role = boto3.client("iam").create_role(RoleName=ROLE, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    client = boto3.client("lambda", region_name=REGION)
    for name, handler in handlers.items():
        client.create_function(
            FunctionName=name,
            Handler=handler,
            Role=role,
            Runtime="python3.11",
            Code={"ZipFile": b"the code runs from the working directory"},
            Timeout=SECONDS,
            MemorySize=MEMORY,
        )
