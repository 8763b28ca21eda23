"""The arrows between the rooms are held by import-linter. Here each of its contracts is seen to fail."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from infra.package import ROOT, tool

STRAY = [
    ("usecases/submit.py", "import chalicelib.adapters.system", "Arrows point one way; no room but these"),
    ("utils.py", "", "Arrows point one way; no room but these"),
    ("core/run.py", "import boto3", "The rules, what they need and what is done with them know no technology"),
    ("adapters/system.py", "import moto", "What ships knows neither the laptop nor the tests"),
    ("handlers/clock.py", "import starlette", "Only the edge, whose zip has one, knows an HTTP server"),
    ("handlers/problems.py", "import chalice", "The edge, whose zip has none, gets along without Chalice"),
    ("handlers/clock.py", "import chalicelib.edge.pace", "Arrows point one way; no room but these"),
    ("core/run.py", "import chalicelib.core.transitions", "No circles"),
    (
        "adapters/system.py",
        "import chalicelib.adapters.dynamodb.keys",
        "The key schema belongs to the DynamoDB adapter",
    ),
    ("handlers/clock.py", "import chalicelib.adapters.system", "Only bootstrap chooses adapters"),
]


def _broken(project: Path) -> list[str]:
    done = subprocess.run(
        [tool("lint-imports"), "--no-cache"], cwd=project, capture_output=True, text=True, check=False
    )
    return [line.removesuffix(" BROKEN") for line in done.stdout.splitlines() if line.endswith(" BROKEN")]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "chalicelib", tmp_path / "chalicelib", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(("module", "line", "contract"), STRAY)
def test_a_stray_import_breaks_its_contract(module: str, line: str, contract: str, project: Path) -> None:
    with (project / "chalicelib" / module).open("a") as source:
        source.write(f"{line}\n")

    assert contract in _broken(project)
