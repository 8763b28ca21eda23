"""How AWS clients are made."""

from __future__ import annotations

import pytest

from chalicelib.adapters.aws.clients import client, function_client
from chalicelib.core import lease


def test_what_we_retry_ourselves_botocore_does_not(aws: None) -> None:
    assert _tries(client("dynamodb")) == _tries(client("s3")) == 1
    assert _tries(client("stepfunctions")) > 1


def test_a_frame_is_posted_once(aws: None) -> None:
    assert _tries(client("apigatewaymanagementapi", None)) == 1


def test_a_dead_line_is_noticed_well_within_a_lease(aws: None) -> None:
    config = client("dynamodb").meta.config

    assert config.connect_timeout + config.read_timeout < lease.LEASE.total_seconds() / 3  # type: ignore[attr-defined]


def test_the_endpoint_is_the_environments(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")

    assert client("dynamodb").meta.endpoint_url == "http://127.0.0.1:4566"


def test_a_function_is_called_once_and_waited_for_as_long_as_is_said(aws: None) -> None:
    config = function_client(41.5, None).meta.config

    assert config.retries["total_max_attempts"] == 1  # type: ignore[attr-defined]
    assert config.read_timeout == 41.5  # type: ignore[attr-defined]


def _tries(made: object) -> int:
    return int(made.meta.config.retries["total_max_attempts"])  # type: ignore[attr-defined]
