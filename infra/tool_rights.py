"""What Lambda tools of agents may use, in the template: functions and roles that parameters name, by default none.

Policies of their own beside that of `Advance`: IAM knows no statement about nothing.
"""

from __future__ import annotations

from typing import Any

FUNCTION = "arn:[a-z-]+:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]+(:[A-Za-z0-9_$-]+)?"
ROLE = "arn:[a-z-]+:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+"

WHO = "AdvanceRole"
"""As Chalice names the role of the function that makes the calls."""


def parameters() -> dict[str, Any]:
    return {
        "ToolFunctions": _list("ARNs of functions that agents may call by the runtime's own right", FUNCTION),
        "ToolRoles": _list("ARNs of roles that calls of agents' functions may take on", ROLE),
    }


def conditions() -> dict[str, Any]:
    return {f"With{name}": {"Fn::Not": [{"Fn::Equals": [_joined(name), ""]}]} for name in parameters()}


def resources() -> dict[str, Any]:
    # A session with tags, as each call's is, wants both of the latter.
    return {
        "ToolFunctionsPolicy": _policy("ToolFunctions", ["lambda:InvokeFunction"]),
        "ToolRolesPolicy": _policy("ToolRoles", ["sts:AssumeRole", "sts:TagSession"]),
    }


def _list(description: str, item: str) -> dict[str, Any]:
    return {
        "Type": "CommaDelimitedList",
        "Description": f"{description}, with commas between; empty: none.",
        "Default": "",
        "AllowedPattern": f"^({item})?$",
    }


def _joined(name: str) -> dict[str, Any]:
    return {"Fn::Join": ["", {"Ref": name}]}


def _policy(named: str, actions: list[str]) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": actions, "Resource": {"Ref": named}}
    return {
        "Type": "AWS::IAM::Policy",
        "Condition": f"With{named}",
        "Properties": {
            "PolicyName": named,
            "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
            "Roles": [{"Ref": WHO}],
        },
    }
