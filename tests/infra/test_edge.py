"""The streaming edge as it would be deployed. Lambda, its URL and the adapter cannot be run here; what can be is."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from chalicelib.adapters.dynamodb import keys
from infra import edge
from infra.build import BUILD, Built, for_moto
from tests.infra.test_package import runtime as runtime

SERVES = """
import sys
from chalicelib import bootstrap
from chalicelib.edge.door import Edge
from chalicelib.edge.server import EdgeServer
import chalicelib.edge.__main__
EdgeServer(Edge(bootstrap.world), 8080)
print([name for name in ("chalice", "aws_lambda_powertools", "moto") if name in sys.modules])
"""


@pytest.fixture(scope="session")
def edge_root(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the edge has at /var/task."""
    root = tmp_path_factory.mktemp("edge")
    with zipfile.ZipFile(BUILD / "edge.zip") as package:
        package.extractall(root)
    return root


def test_the_edge_s_zip_serves_with_the_lambda_runtime_alone(edge_root: Path, runtime: Path) -> None:
    path = f"import sys; sys.path[:0] = [{str(edge_root)!r}, {str(runtime)!r}]\n"
    done = subprocess.run(
        [sys.executable, "-ISB", "-c", path + SERVES], cwd=edge_root, capture_output=True, text=True, check=False
    )

    assert done.stdout.strip() == "[]", done.stderr


def test_what_the_adapter_starts_is_an_executable_that_says_what_it_lacks(edge_root: Path, built: Built) -> None:
    with zipfile.ZipFile(BUILD / "edge.zip") as package:
        start = package.getinfo(built.transformed["Resources"][edge.NAME]["Properties"]["Handler"])
    assert start.external_attr >> 16 & 0o111

    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    done = subprocess.run(
        ["sh", "run.sh"], cwd=edge_root, env={"PATH": path}, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr.strip()) == (1, "PAWL_TABLE is not set.")


def test_the_zip_stays_small_and_holds_no_second_aws_client() -> None:
    with zipfile.ZipFile(BUILD / "edge.zip") as package:
        tops = {name.split("/")[0] for name in package.namelist()}

    assert (BUILD / "edge.zip").stat().st_size < 4_000_000
    assert not tops & {"boto3", "botocore", "chalice", "moto", "pytest"}


def test_a_stream_ends_before_lambda_would_end_it(built: Built) -> None:
    function = built.transformed["Resources"][edge.NAME]["Properties"]
    variables = function["Environment"]["Variables"]

    assert int(variables["PAWL_STREAM_SECONDS"]) + 30 < function["Timeout"] <= 900
    assert variables["PAWL_EDGE_PORT"] == variables["AWS_LWA_PORT"]
    assert variables["PAWL_TABLE"] == {"Ref": "RunsTable"}
    assert built.transformed["Resources"][f"{edge.NAME}Url"]["Properties"]["InvokeMode"] == "RESPONSE_STREAM"


def test_without_the_adapter_s_layer_there_is_no_edge(built: Built) -> None:
    resources = built.transformed["Resources"]
    parts = [name for name in resources if name.startswith(edge.NAME)]

    assert {edge.NAME, f"{edge.NAME}Role", f"{edge.NAME}Url"} < set(parts)
    assert all(resources[name]["Condition"] == "WithEdge" for name in parts)
    assert built.transformed["Parameters"]["EdgeAdapterLayer"]["Default"] == ""
    assert not set(parts) & for_moto(built.transformed)["Resources"].keys()


def test_the_edge_may_do_what_it_does_and_nothing_else(built: Built) -> None:
    [policy] = built.transformed["Resources"][f"{edge.NAME}Role"]["Properties"]["Policies"]
    statements = policy["PolicyDocument"]["Statement"]

    assert not [each for each in statements if each["Resource"] == "*" or "*" in "".join(each["Action"])]
    [delete] = [each for each in statements if "dynamodb:DeleteItem" in each["Action"]]
    assert delete["Action"] == ["dynamodb:DeleteItem"]
    assert delete["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{keys.RUN_FILES_PK}*"]}}
