"""The sandbox as it would be deployed: no permission, no way out, and nothing at all unless it is wanted."""

from __future__ import annotations

import json
from typing import Any

from botocore.session import get_session

from infra import sandbox
from infra.build import Built, for_moto
from infra.package import ROOT
from infra.template import FUNCTIONS


def _parts(built: Built) -> dict[str, Any]:
    resources = built.transformed["Resources"]
    return {name: each for name, each in resources.items() if name.startswith(sandbox.NAME)}


def test_without_being_asked_for_there_is_none_of_it(built: Built) -> None:
    parts = _parts(built)

    assert len(parts) == 6
    assert {each.get("Condition") for each in parts.values()} == {sandbox.CONDITION}
    assert built.transformed["Parameters"]["CodeSandbox"]["Default"] == "off"
    assert not parts.keys() & for_moto(built.transformed)["Resources"].keys()


def test_every_run_has_a_machine_of_its_own(built: Built) -> None:
    properties = _parts(built)[sandbox.NAME]["Properties"]

    assert properties["TenancyConfig"] == {"TenantIsolationMode": "PER_TENANT"}
    # As Lambda's API spells it.
    shape = get_session().get_service_model("lambda").shape_for("TenancyConfig")
    assert list(shape.members) == ["TenantIsolationMode"]  # type: ignore[attr-defined]
    assert shape.members["TenantIsolationMode"].enum == ["PER_TENANT"]  # type: ignore[attr-defined]


def test_its_code_may_do_nothing_with_its_role(built: Built) -> None:
    [policy] = _parts(built)["SandboxRole"]["Properties"]["Policies"]
    allow, deny = policy["PolicyDocument"]["Statement"]

    assert {action.split(":")[0] for action in allow["Action"]} == {"ec2"}
    assert all(action.endswith(("NetworkInterface", "NetworkInterfaces")) for action in allow["Action"])
    assert (deny["Effect"], deny["Action"], deny["Resource"]) == ("Deny", "*", "*")
    assert deny["Condition"] == {"ArnEquals": {"lambda:SourceFunctionArn": {"Fn::Sub": sandbox.FUNCTION_ARN}}}
    assert "ManagedPolicyArns" not in _parts(built)["SandboxRole"]["Properties"]


def test_its_network_leads_nowhere_and_resolves_nothing(built: Built) -> None:
    resources, parts = built.transformed["Resources"], _parts(built)
    kinds = {each["Type"] for each in resources.values() if each["Type"].startswith("AWS::EC2")}

    assert kinds == {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"}
    assert parts["SandboxNetwork"]["Properties"]["EnableDnsSupport"] is False
    group = parts["SandboxGroup"]["Properties"]
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["127.0.0.1/32"]
    assert "SecurityGroupIngress" not in group
    assert parts[sandbox.NAME]["Properties"]["VpcConfig"] == {
        "SecurityGroupIds": [{"Ref": "SandboxGroup"}],
        "SubnetIds": [{"Ref": "SandboxSubnet0"}, {"Ref": "SandboxSubnet1"}],
    }


def test_it_is_told_nothing_of_the_rest(built: Built) -> None:
    variables = _parts(built)[sandbox.NAME]["Properties"]["Environment"]["Variables"]

    assert set(variables.values()) == {""}


def test_advance_may_invoke_it_and_nobody_else() -> None:
    may = [
        name
        for name in FUNCTIONS.values()
        for statement in json.loads((ROOT / ".chalice" / "policies" / f"{name}.json").read_text())["Statement"]
        if "lambda:InvokeFunction" in statement["Action"] and statement["Resource"] == {"Fn::Sub": sandbox.FUNCTION_ARN}
    ]

    assert may == ["advance"]
