"""The template: whole, clean, and in step with what it names."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app import app
from chalicelib.adapters.aws.file_bucket import run_key, upload_key
from chalicelib.adapters.dynamodb import keys
from chalicelib.core.files import UNUSED_FOR
from infra import edge, sandbox, socket_api, table, tool_rights
from infra.build import BUILD, Built, for_moto, lint
from infra.package import ROOT
from infra.template import FUNCTIONS, LOOP_ARN, merge_template

POLICIES = ROOT / ".chalice" / "policies"


def test_cfn_lint_finds_nothing_before_sam_and_after_it(built: Built) -> None:
    assert lint(BUILD / "sam.json", BUILD / "template.json") == ""


def test_cfn_lint_would_find_a_reference_to_nothing(built: Built, tmp_path: Path) -> None:
    broken = {**built.template, "Outputs": {"Nothing": {"Value": {"Ref": "Nothing"}}}}
    (tmp_path / "broken.json").write_text(json.dumps(broken))

    assert "'Nothing' is not one of" in lint(tmp_path / "broken.json")


def test_the_api_hands_bodies_on_as_bytes_and_answers_in_text(built: Built) -> None:
    [api] = [each for each in built.transformed["Resources"].values() if each["Type"] == "AWS::ApiGateway::RestApi"]

    assert api["Properties"]["Body"]["x-amazon-apigateway-binary-media-types"] == ["*/*"]
    assert app.api.binary_types == []


def test_every_resource_has_a_type(built: Built) -> None:
    for template in (built.template, built.transformed):
        assert [name for name, each in template["Resources"].items() if "Type" not in each] == []


def test_only_the_gateway_and_what_is_optional_are_left_out_for_moto(built: Built) -> None:
    optional = {name for name, each in built.transformed["Resources"].items() if "Condition" in each}
    gone = built.transformed["Resources"].keys() - for_moto(built.transformed)["Resources"].keys() - optional

    others = tool_rights.resources()
    assert all(name.startswith((edge.NAME, sandbox.NAME)) or name in others for name in optional)
    types = {built.transformed["Resources"][name]["Type"].split("::")[1] for name in gone}
    permissions = {name for name in gone if name.endswith("Permission")}
    assert types == {"ApiGateway", "ApiGatewayV2", "Lambda"}
    assert permissions == {"APIHandlerInvokePermission", "ApiAuthInvokePermission", "SocketApiPermission"}
    assert all(name.startswith(("RestAPI", socket_api.NAME)) for name in gone - permissions)


def test_the_keys_and_indexes_of_the_schema_are_the_table_s() -> None:
    properties = table.properties()

    def schema(of: dict[str, Any]) -> tuple[str, ...]:
        return tuple(key["AttributeName"] for key in of["KeySchema"])

    assert schema(properties) == (keys.PK, keys.SK)
    assert {each["IndexName"]: schema(each) for each in properties["GlobalSecondaryIndexes"]} == {
        keys.BY_ACCOUNT: (keys.ACCOUNT_PK, keys.ACCOUNT_SK),
        keys.BY_DUE: (keys.DUE_PK, keys.DUE_SK),
        keys.BY_INBOX: (keys.INBOX_PK, keys.INBOX_SK),
    }
    assert properties["TimeToLiveSpecification"]["AttributeName"] == keys.TTL


def test_policies_read_indexes_that_the_table_has() -> None:
    named = {
        word.rpartition("/index/")[2]
        for path in POLICIES.iterdir()
        for word in path.read_text().split('"')
        if "/index/" in word
    }

    assert named == {keys.BY_ACCOUNT, keys.BY_DUE, keys.BY_INBOX}


@pytest.mark.parametrize("name", [*FUNCTIONS.values()])
def test_a_function_writes_to_its_own_log_only(name: str) -> None:
    statements = json.loads((POLICIES / f"{name}.json").read_text())["Statement"]

    [logs] = [each for each in statements if each["Action"][0].startswith("logs:")]
    assert logs["Resource"]["Fn::Sub"].endswith(f":log-group:/aws/lambda/pawl-${{Stage}}-{name}:*")


@pytest.mark.parametrize("path", [*POLICIES.iterdir()], ids=lambda path: path.stem)
def test_no_policy_reaches_for_everything(path: Path) -> None:
    for statement in json.loads(path.read_text())["Statement"]:
        assert not [action for action in statement["Action"] if "*" in action]
        assert statement["Resource"] != "*"


@pytest.mark.parametrize("path", [*POLICIES.iterdir()], ids=lambda path: path.stem)
def test_whoever_reads_payloads_may_learn_that_one_is_gone(path: Path) -> None:
    """S3 says so only to those who may list the bucket: to everybody else it says that they may not."""
    granted = {action for each in json.loads(path.read_text())["Statement"] for action in each["Action"]}

    assert ("s3:ListBucket" in granted) >= ("s3:GetObject" in granted)


def test_the_api_deletes_nothing_of_the_table_but_files_and_webhooks() -> None:
    statements = json.loads((POLICIES / "app.json").read_text())["Statement"]

    [deletes] = [each for each in statements if "dynamodb:DeleteItem" in each["Action"]]
    assert deletes["Action"] == ["dynamodb:DeleteItem"]
    partitions = [f"{keys.UPLOADS_PK}*", f"{keys.RUN_FILES_PK}*", keys.webhooks("*")]
    assert deletes["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": partitions}}


def test_what_expires_in_the_bucket_are_uploads_and_runs_have_their_own_copies() -> None:
    rules = merge_template("dev")["Resources"]["PayloadBucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    [expiring] = [rule for rule in rules if "ExpirationInDays" in rule]

    assert upload_key("acme", "file_1").startswith(expiring["Prefix"])
    assert not run_key("run_1", "file_1").startswith(expiring["Prefix"])
    assert timedelta(days=expiring["ExpirationInDays"]) > UNUSED_FOR


def test_policies_and_environment_name_the_same_state_machine() -> None:
    for path in POLICIES.iterdir():
        for statement in json.loads(path.read_text())["Statement"]:
            if statement["Sid"] == "Loop":
                assert statement["Resource"] == {"Fn::Sub": LOOP_ARN}


def test_the_stage_is_the_default_of_a_parameter_and_nothing_else() -> None:
    dev, prod = merge_template("dev"), merge_template("prod")

    assert prod["Parameters"].pop("Stage")["Default"] == "prod"
    assert dev["Parameters"].pop("Stage")["Default"] == "dev"
    assert dev == prod


@pytest.mark.parametrize("resource", ["RunsTable", "PayloadBucket"])
def test_what_runs_have_written_outlives_the_stack(resource: str, built: Built) -> None:
    assert built.transformed["Resources"][resource]["DeletionPolicy"] == "Retain"


def test_nobody_outside_reaches_the_payloads() -> None:
    bucket = merge_template("dev")["Resources"]["PayloadBucket"]["Properties"]

    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_by_default_an_agents_functions_may_use_nothing(built: Built) -> None:
    """What may be used is named by a parameter, and the role that gets the right is the one that makes the calls."""
    resources, parameters = built.transformed["Resources"], built.transformed["Parameters"]
    rights = {"ToolFunctions": ["lambda:InvokeFunction"], "ToolRoles": ["sts:AssumeRole", "sts:TagSession"]}

    for named, actions in rights.items():
        policy = resources[f"{named}Policy"]
        [statement] = policy["Properties"]["PolicyDocument"]["Statement"]
        assert parameters[named]["Default"] == ""
        assert policy["Condition"] == f"With{named}"
        assert statement == {"Effect": "Allow", "Action": actions, "Resource": {"Ref": named}}
        assert policy["Properties"]["Roles"] == [{"Ref": "AdvanceRole"}]
    assert resources["Advance"]["Properties"]["Role"] == {"Fn::GetAtt": ["AdvanceRole", "Arn"]}
