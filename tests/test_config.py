"""Settings are read once, and a wrong one is named."""

from __future__ import annotations

import pytest

from chalicelib.config import Config, InvalidSetting

LEAST = {"PAWL_TABLE": "table", "PAWL_BUCKET": "bucket", "PAWL_STATE_MACHINE_ARN": "arn"}


def test_the_least_that_must_be_set_is_enough() -> None:
    assert Config.from_env(LEAST) == Config(table="table", bucket="bucket", state_machine_arn="arn")


def test_every_setting_is_read() -> None:
    env = LEAST | {
        "STEPS_PER_SLICE": "3",
        "RUNS_AT_ONCE": "7",
        "PAWL_STREAM_SECONDS": "840",
        "PAWL_EDGE_PORT": "9000",
        "RETENTION_HOURS": "48",
        "REPLAY_CAP": "500",
        "PAWL_EVENT_BUS": "pawl-dev",
        "PAWL_WEBHOOK_QUEUE_URL": "https://sqs.example/webhooks",
        "PAWL_LOOPBACK_WEBHOOKS": "1",
        "PAWL_EMAIL_FROM": "pawl@acme.example",
        "PAWL_OUTBOX": "/tmp/outbox",
        "PAWL_SECRETS_PREFIX": "/pawl/prod/secrets",
        "PAWL_LAPTOP": "1",
        "PAWL_SANDBOX": "lambda",
        "PAWL_SANDBOX_FUNCTION": "pawl-dev-sandbox",
        "PAWL_MODEL_URL": "https://models.example/v1",
        "PAWL_MODEL_NAME": "small",
        "PAWL_MODEL_KEY": "secret",
        "PAWL_MODEL_KEY_PARAMETER": "/pawl/key",
        "PAWL_TICKET_SECRET": "t" * 32,
        "PAWL_TICKET_SECRET_PARAMETER": "/pawl/ticket-secret",
        "PAWL_SOCKET_ENDPOINT": "https://sockets.example/live",
        "PAWL_S3_URL": "http://127.0.0.1:8787/s3",
    }

    assert Config.from_env(env) == Config(
        table="table",
        bucket="bucket",
        state_machine_arn="arn",
        steps_per_slice=3,
        runs_at_once=7,
        stream_seconds=840,
        edge_port=9000,
        retention_hours=48,
        replay_cap=500,
        event_bus="pawl-dev",
        webhook_queue_url="https://sqs.example/webhooks",
        loopback_webhooks=True,
        email_from="pawl@acme.example",
        outbox="/tmp/outbox",
        secrets_prefix="/pawl/prod/secrets",
        laptop=True,
        sandbox="lambda",
        sandbox_function="pawl-dev-sandbox",
        model_url="https://models.example/v1",
        model_name="small",
        model_key="secret",
        ticket_secret="t" * 32,
        ticket_secret_parameter="/pawl/ticket-secret",
        socket_endpoint="https://sockets.example/live",
        model_key_parameter="/pawl/key",
        s3_url="http://127.0.0.1:8787/s3",
    )


def test_an_empty_variable_is_one_that_is_not_set() -> None:
    optional = ("PAWL_MODEL_URL", "PAWL_MODEL_NAME", "PAWL_MODEL_KEY_PARAMETER", "STEPS_PER_SLICE", "REPLAY_CAP")

    assert Config.from_env(LEAST | dict.fromkeys(optional, "")) == Config.from_env(LEAST)


@pytest.mark.parametrize("name", [*LEAST])
def test_what_must_be_set_is_missed_by_name(name: str) -> None:
    with pytest.raises(InvalidSetting, match=name):
        Config.from_env(LEAST | {name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PAWL_LOOPBACK_WEBHOOKS", "yes"),
        ("PAWL_LAPTOP", "yes"),
        ("STEPS_PER_SLICE", "-1"),
        ("STEPS_PER_SLICE", "many"),
        ("STEPS_PER_SLICE", "1.5"),
        ("STEPS_PER_SLICE", "\u0663"),
        ("RUNS_AT_ONCE", "0"),
        ("RUNS_AT_ONCE", "1001"),
        ("RETENTION_HOURS", "0"),
        ("REPLAY_CAP", "all"),
        ("PAWL_STREAM_SECONDS", "-1"),
        ("PAWL_EDGE_PORT", "0"),
        ("PAWL_MODEL_URL", "models.example"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidSetting, match=name):
        Config.from_env(LEAST | {name: value})


def test_a_provider_without_a_model_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="PAWL_MODEL_NAME"):
        Config.from_env(LEAST | {"PAWL_MODEL_URL": "https://models.example/v1"})


def test_a_secret_that_could_be_guessed_signs_no_tickets() -> None:
    with pytest.raises(InvalidSetting, match="PAWL_TICKET_SECRET must have 32 characters"):
        Config.from_env(LEAST | {"PAWL_TICKET_SECRET": "t" * 31})


def test_mail_in_an_outbox_has_a_sender_too() -> None:
    with pytest.raises(InvalidSetting, match="PAWL_EMAIL_FROM"):
        Config.from_env(LEAST | {"PAWL_OUTBOX": "/tmp/outbox"})


def test_there_is_no_sandbox_that_contains_nothing() -> None:
    with pytest.raises(InvalidSetting, match="PAWL_SANDBOX must be one of off, auto, bubblewrap, landlock, lambda"):
        Config.from_env(LEAST | {"PAWL_SANDBOX": "none"})


def test_a_sandbox_on_lambda_needs_its_function() -> None:
    with pytest.raises(InvalidSetting, match="PAWL_SANDBOX_FUNCTION"):
        Config.from_env(LEAST | {"PAWL_SANDBOX": "lambda"})


@pytest.mark.parametrize("hosts", ["10.0.0.1", "example.com,localhost", "*.com.", "https://example.com"])
def test_an_approved_host_is_a_public_name(hosts: str) -> None:
    with pytest.raises(InvalidSetting, match="PAWL_SANDBOX_HOSTS"):
        Config.from_env(LEAST | {"PAWL_SANDBOX": "auto", "PAWL_SANDBOX_HOSTS": hosts})


def test_approved_hosts_are_read_and_refused_on_lambda() -> None:
    hosts = {"PAWL_SANDBOX_HOSTS": "api.example.com, *.example.org,"}

    assert Config.from_env(LEAST | hosts).sandbox_hosts == ("api.example.com", "*.example.org")
    with pytest.raises(InvalidSetting, match="no network"):
        Config.from_env(LEAST | hosts | {"PAWL_SANDBOX": "lambda", "PAWL_SANDBOX_FUNCTION": "f"})
