"""The zip: what is in it runs in a Lambda, and nothing else is in it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from infra.build import Built
from infra.package import EDGE, ROOT, add_bytecode
from infra.template import FUNCTIONS

RUNTIME_BRINGS = ("boto3", "botocore", "s3transfer", "dateutil", "six", "jmespath", "urllib3")
"""What a Lambda finds outside its package."""

MAY_SHIP = {
    "app.py",
    "chalice",
    "chalicelib",
    "aws_lambda_powertools",
    "urllib3",
    "jmespath",
    "typing_extensions.py",
    "tzdata",
    "jsonschema",
    "jsonschema_specifications",
    "referencing",
    "attr",
    "attrs",
    "rpds",
}

RESOLVE = """
import importlib, os, sys
module, _, name = os.environ["_HANDLER"].rpartition(".")
assert callable(getattr(importlib.import_module(module), name))
"""

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import chalicelib
for module in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
    importlib.import_module(module.name)
print(json.dumps([module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)]))
"""


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Lambda runtime's own packages, and nothing else of the virtualenv."""
    root = tmp_path_factory.mktemp("runtime")
    for name in RUNTIME_BRINGS:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        file = Path(spec.origin)
        source = file.parent if file.name == "__init__.py" else file
        (root / source.name).symlink_to(source)
    return root


def _in_a_lambda(script: str, handler: str, task_root: Path, runtime: Path) -> str:
    path = f"import sys; sys.path[:0] = [{str(task_root)!r}, {str(runtime)!r}]\n"
    environment = {"_HANDLER": handler, "AWS_REGION": "eu-west-1", "AWS_LAMBDA_FUNCTION_NAME": "pawl"}
    command = [sys.executable, "-ISB", "-c", path + script]
    done = subprocess.run(command, env=environment, cwd=task_root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("logical_id", FUNCTIONS)
def test_a_lambda_finds_its_handler_in_the_package(
    logical_id: str, built: Built, task_root: Path, runtime: Path
) -> None:
    handler = built.transformed["Resources"][logical_id]["Properties"]["Handler"]

    _in_a_lambda(RESOLVE, handler, task_root, runtime)


@pytest.mark.parametrize(("handler", "served"), [("app.app", True), ("app.api_auth", False), ("app.advance", False)])
def test_only_the_lambda_that_serves_http_loads_the_routes(
    handler: str, served: bool, task_root: Path, runtime: Path
) -> None:
    script = 'import sys, app; print("chalicelib.handlers.http" in sys.modules, bool(app.app.routes))'

    assert _in_a_lambda(script, handler, task_root, runtime).split() == [str(served)] * 2


def test_every_module_that_ships_needs_only_the_package_and_the_runtime(task_root: Path, runtime: Path) -> None:
    loaded = json.loads(_in_a_lambda(IMPORT_ALL, "app.app", task_root, runtime))

    ours = {str(Path(file).relative_to(task_root)) for file in loaded if file.startswith(str(task_root))}
    modules = {path.relative_to(ROOT) for path in (ROOT / "chalicelib").rglob("*.py")}
    assert {str(path) for path in modules if EDGE not in path.parts} <= ours
    assert not [path for path in ours if EDGE in Path(path).parts]


def test_the_package_holds_no_development_dependency(built: Built) -> None:
    with zipfile.ZipFile(built.zip) as package:
        tops = {name.split("/")[0] for name in package.namelist()}

    shipped = {top for top in tops if not top.endswith((".dist-info", ".data")) and top != "__pycache__"}
    assert shipped <= MAY_SHIP


def test_the_package_holds_nobody_s_tests(built: Built) -> None:
    with zipfile.ZipFile(built.zip) as package:
        folders = {part for name in package.namelist() for part in name.split("/")[:-1]}

    assert not {"tests", "benchmarks"} & folders


def test_of_chalice_only_its_runtime_ships(built: Built) -> None:
    with zipfile.ZipFile(built.zip) as package:
        chalice = {name for name in package.namelist() if name.startswith("chalice/") and name.endswith(".py")}

    assert chalice == {"chalice/__init__.py", "chalice/app.py"}


def test_what_is_compiled_in_the_package_is_for_the_processor_of_the_lambda(built: Built) -> None:
    with zipfile.ZipFile(built.zip) as package:
        compiled = {name: package.read(name)[18:20] for name in package.namelist() if name.endswith(".so")}

    elf_machine_aarch64 = b"\xb7\x00"
    assert set(compiled.values()) == {elf_machine_aarch64}


def test_the_package_stays_under_five_megabytes(built: Built) -> None:
    assert built.zip.stat().st_size < 5_000_000


def test_every_module_of_the_package_brings_bytecode_that_is_valid_whatever_its_date(built: Built) -> None:
    unchecked_hash = b"\x01\x00\x00\x00"
    with zipfile.ZipFile(built.zip) as package:
        names = set(package.namelist())
        for name in (name for name in names if name.endswith(".py")):
            pyc = importlib.util.cache_from_source(name)
            assert package.read(pyc)[:8] == importlib.util.MAGIC_NUMBER + unchecked_hash


def test_adding_bytecode_twice_makes_the_same_package(built: Built, tmp_path: Path) -> None:
    plain, again = tmp_path / "plain.zip", tmp_path / "again.zip"
    with zipfile.ZipFile(built.zip) as package, zipfile.ZipFile(plain, "w") as stripped:
        for name in package.namelist():
            if name.startswith("chalicelib/") and not name.endswith(".pyc"):
                stripped.writestr(name, package.read(name))
    again.write_bytes(plain.read_bytes())
    os.utime(again, (0, 0))

    add_bytecode(plain)
    add_bytecode(again)

    assert plain.read_bytes() == again.read_bytes()
