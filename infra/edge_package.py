"""The edge's zip: chalicelib, and what requirements-edge.txt asks for. Chalice packages the rest."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from infra.package import ROOT, ZIP_EPOCH, add_bytecode, wheels

REQUIREMENTS = ROOT / "requirements-edge.txt"
START = "#!/bin/sh\nexec python -m chalicelib.edge\n"
"""What the Lambda Web Adapter runs."""


def package_edge(out: Path) -> None:
    """Put `edge.zip` into `out`."""
    made = out / "edge.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        _add(package, "run.sh", START.encode(), executable=True)
        for name, content in (*_ours(), *_theirs()):
            _add(package, name, content)
    add_bytecode(made)


def _ours() -> Iterator[tuple[str, bytes]]:
    for path in sorted((ROOT / "chalicelib").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(path.relative_to(ROOT)), path.read_bytes()


def _theirs() -> Iterator[tuple[str, bytes]]:
    for wheel in sorted(wheels(REQUIREMENTS).glob("*.whl")):
        with zipfile.ZipFile(wheel) as content:
            yield from ((name, content.read(name)) for name in content.namelist() if not name.endswith("/"))


def _add(package: zipfile.ZipFile, name: str, content: bytes, *, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, ZIP_EPOCH)
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    package.writestr(entry, content)
