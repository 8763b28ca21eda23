"""app.py is a list of doors, and what is configured are these doors and no others."""

from __future__ import annotations

import ast
import json

from infra import edge, sandbox
from infra.build import Built
from infra.package import ROOT
from infra.template import FUNCTIONS

BRANCHES = (ast.If, ast.IfExp, ast.Match, ast.For, ast.While, ast.Try, ast.BoolOp, ast.comprehension)
CONFIG = json.loads((ROOT / ".chalice" / "config.json").read_text())
POLICIES = ROOT / ".chalice" / "policies"


def test_app_py_has_no_branches() -> None:
    tree = ast.parse((ROOT / "app.py").read_text())

    assert [node for node in ast.walk(tree) if isinstance(node, BRANCHES)] == []


def test_app_py_stays_a_list_one_can_read() -> None:
    assert len((ROOT / "app.py").read_text().splitlines()) <= 120


def test_every_packaged_function_is_a_door_of_app_py_by_its_own_name(built: Built) -> None:
    functions = {
        name: each["Properties"]["Handler"]
        for name, each in built.transformed["Resources"].items()
        if each["Type"] == "AWS::Lambda::Function" and name not in (edge.NAME, sandbox.NAME)
    }

    assert functions == {logical_id: f"app.{name}" for logical_id, name in FUNCTIONS.items()}


def test_the_configuration_names_exactly_the_functions_there_are() -> None:
    assert set(CONFIG["lambda_functions"]) == {*FUNCTIONS.values(), "api_handler"} - {"app"}


def test_every_function_has_a_policy_of_its_own_and_every_policy_a_function() -> None:
    named = [f"{each['iam_policy_file']}" for each in CONFIG["lambda_functions"].values()]

    assert sorted(named) == sorted(f"policies/{path.name}" for path in POLICIES.iterdir())


def test_memory_and_time_of_the_configuration_reach_the_template_in_any_stage(built: Built) -> None:
    packaged = {name: built.transformed["Resources"][name]["Properties"] for name in FUNCTIONS}

    for logical_id, name in FUNCTIONS.items():
        wanted = CONFIG["lambda_functions"]["api_handler" if name == "app" else name]
        assert packaged[logical_id]["Timeout"] == wanted["lambda_timeout"]
        assert packaged[logical_id]["MemorySize"] == wanted["lambda_memory_size"]
        assert packaged[logical_id]["Architectures"] == ["arm64"]
