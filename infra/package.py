"""What is uploaded: `chalice package` over a clean copy of what ships, with bytecode put into its zip."""

from __future__ import annotations

import hashlib
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("app.py", "requirements.txt", "chalicelib", ".chalice/config.json", ".chalice/policies")

EDGE = "edge"
"""The room of chalicelib that Chalice's functions go without: it ships in a zip of its own (infra/edge_package.py)."""

WHEELS = ROOT / "infra" / "build" / "wheels"
"""What the requirements ask for, downloaded once: packaging needs no network after that."""

LAMBDA_PLATFORM = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:")
NOT_WANTED = frozenset({"tests", "benchmarks"})
"""Folders that wheels bring along for their own developers."""

ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def package(merge: Path, stage: str, out: Path) -> None:
    """Put `sam.json` and `deployment.zip` into `out`."""
    found = wheels()
    with tempfile.TemporaryDirectory() as scratch:
        project = _copy(Path(scratch))
        options = ["--stage", stage, "--merge-template", str(merge)]
        command = [tool("chalice"), "--project-dir", str(project), "package", *options, str(out)]
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(found), "AWS_DEFAULT_REGION": "us-east-1"}
        _run(command, {**os.environ, **offline})
    add_bytecode(out / "deployment.zip")


def _copy(project: Path) -> Path:
    for name in SHIPPED:
        source, target = ROOT / name, project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", EDGE))
        else:
            shutil.copyfile(source, target)
    return project


def wheels(requirements: Path = ROOT / "requirements.txt") -> Path:
    """The folder with what the requirements ask for, filled if need be."""
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    kept = WHEELS / wanted[:16]
    if not kept.exists():
        WHEELS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=WHEELS) as scratch:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "-r", str(requirements)]
            # Chalice looks for what this machine could run first, and then for the same of the Lambda's platform.
            for platform in (("--only-binary", ":all:"), LAMBDA_PLATFORM):
                _run([*pip, *platform, "--dest", f"{scratch}/whole"], dict(os.environ))
            os.rename(f"{scratch}/whole", kept)
    return kept


def tool(name: str) -> str:
    """A command of the virtualenv that runs us, activated or not."""
    return str(Path(sys.executable).with_name(name))


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def add_bytecode(package: Path) -> None:
    """Add a .pyc for every module, and leave out what a Lambda never imports.

    A Lambda cannot write its own, and would compile every module at every cold start. Unchecked, because the dates in
    the zip are fixed, so that no other kind would ever be valid. Only for the minor version of Python that packages,
    which is the one that Chalice deploys.
    """
    whole = package.with_suffix(".tmp")
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in sorted(old.infolist(), key=lambda each: each.filename):
            if NOT_WANTED & set(Path(entry.filename).parts):
                continue
            content = old.read(entry)
            _add(new, entry.filename, content, entry.external_attr)
            if entry.filename.endswith(".py"):
                _add(new, _pyc_name(entry.filename), _bytecode(entry.filename, content), entry.external_attr)
    whole.replace(package)


def _add(archive: zipfile.ZipFile, name: str, content: bytes, attributes: int) -> None:
    entry = zipfile.ZipInfo(name, ZIP_EPOCH)
    entry.external_attr = attributes
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def _pyc_name(name: str) -> str:
    path = Path(name)
    return str(path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc")


def _bytecode(name: str, source: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        given, made = Path(scratch, "module.py"), Path(scratch, "module.pyc")
        given.write_bytes(source)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(given), str(made), f"/var/task/{name}", doraise=True, invalidation_mode=unchecked)
        return made.read_bytes()
