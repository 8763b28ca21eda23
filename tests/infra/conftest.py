"""The package, built once and kept while nothing in it changes, and the same package unpacked as a Lambda finds it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from infra.build import Built, build


@pytest.fixture(scope="session")
def built() -> Built:
    return build()


@pytest.fixture(scope="session")
def task_root(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a Lambda has at /var/task."""
    root = tmp_path_factory.mktemp("task")
    with zipfile.ZipFile(built.zip) as package:
        package.extractall(root)
    return root
