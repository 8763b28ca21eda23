"""A cold start imports little more than the AWS client that it cannot do without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 1.15

COUNT_ALL = """
import sys
print(sum(name.partition(".")[0] not in ("app", "chalicelib") for name in sys.modules))
"""
COUNT_THIRD_PARTY = """
import sys
print(sum("site-packages" in (getattr(module, "__file__", None) or "") for module in [*sys.modules.values()]))
"""
BARE = "import boto3; boto3.client('dynamodb')"
WITH_CLIENT = "import app; from chalicelib import bootstrap; world = bootstrap.world(); world.runs, world.keys"

SETTINGS = {
    "PAWL_TABLE": "table",
    "PAWL_BUCKET": "bucket",
    "PAWL_STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:123456789012:stateMachine:loop",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


def counted(count: str, code: str, handler: str = "app.app") -> int:
    """What `count` finds in a fresh process after `code`."""
    return int(counted_text(count, code, handler))


def counted_text(count: str, code: str, handler: str = "app.app") -> str:
    run = subprocess.run(
        [sys.executable, "-c", code + count],
        cwd=ROOT,
        env={**os.environ, **SETTINGS, "_HANDLER": handler},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def test_the_app_with_its_table_takes_hardly_more_modules_than_the_client_alone() -> None:
    assert counted(COUNT_ALL, WITH_CLIENT) <= MOST * counted(COUNT_ALL, BARE)


@pytest.mark.parametrize("handler", ["app.app", "app.api_auth", "app.advance", "app.tick"])
def test_no_door_imports_an_aws_client_before_somebody_knocks(handler: str) -> None:
    assert counted(COUNT_THIRD_PARTY, "import app", handler) < counted(COUNT_THIRD_PARTY, BARE) / 2


def test_what_checks_arguments_is_imported_with_the_first_call_not_with_the_toolbox() -> None:
    boxed = "from chalicelib import bootstrap; bootstrap.world().toolboxes"
    count = "\nimport sys; print('jsonschema' in sys.modules)"
    checked = "; from chalicelib.adapters.tools.schema import arguments_problem; arguments_problem({}, {})"

    assert counted_text(count, boxed) == "False"
    assert counted_text(count, boxed + checked) == "True"
