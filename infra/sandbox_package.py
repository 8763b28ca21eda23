"""The sandbox's zip: the parts of chalicelib that run code, and nothing else that hostile code could find there."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from infra.package import ROOT, ZIP_EPOCH, add_bytecode

PARTS = (
    "chalicelib/__init__.py",
    "chalicelib/core/*.py",
    "chalicelib/ports/*.py",
    "chalicelib/adapters/__init__.py",
    "chalicelib/adapters/system.py",
    "chalicelib/adapters/sandbox/*.py",
    "chalicelib/adapters/sandbox/inside/*.py",
)


def package_sandbox(out: Path) -> None:
    """Put `sandbox.zip` into `out`."""
    made = out / "sandbox.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as package:
        for path in _parts():
            entry = zipfile.ZipInfo(str(path.relative_to(ROOT)), ZIP_EPOCH)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, path.read_bytes())
    add_bytecode(made)


def _parts() -> Iterator[Path]:
    for pattern in PARTS:
        yield from sorted(ROOT.glob(pattern))
