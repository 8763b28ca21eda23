"""Every setting, read once and checked. An invalid one stops the start and is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class InvalidSetting(Exception):  # noqa: N818 - named by what happened
    """A variable of the environment that cannot be meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`steps_per_slice` 0: as many as fit. A model's key stands here (laptop) or in the SSM parameter named here.

    A stream of the edge, which listens on `edge_port`, ends after `stream_seconds` (0: with its run).
    Mail goes out from `email_from`, through SES or into the folder `outbox` where there is one; without a sender there
    is no tool for it. The secrets of accounts' tools are SSM parameters under `secrets_prefix`.
    On a `laptop` an agent's MCP servers may be this machine's own, unencrypted.
    A finished run is archived after `retention_hours`; a client more than `replay_cap` events behind gets a snapshot.
    """

    table: str
    bucket: str
    state_machine_arn: str
    steps_per_slice: int = 0
    retention_hours: int = 24
    replay_cap: int = 1_000
    stream_seconds: int = 0
    edge_port: int = 8080
    secrets_prefix: str = "/pawl/secrets"
    email_from: str | None = None
    outbox: str | None = None
    model_url: str | None = None
    model_name: str | None = None
    model_key: str | None = None
    model_key_parameter: str | None = None
    laptop: bool = False

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Read the settings. An empty variable is one that is not set. Raises `InvalidSetting`."""
        config = cls(
            table=_required(env, "PAWL_TABLE"),
            bucket=_required(env, "PAWL_BUCKET"),
            state_machine_arn=_required(env, "PAWL_STATE_MACHINE_ARN"),
            steps_per_slice=_number(env, "STEPS_PER_SLICE", 0, least=0),
            retention_hours=_number(env, "RETENTION_HOURS", 24, least=1),
            replay_cap=_number(env, "REPLAY_CAP", 1_000, least=1),
            stream_seconds=_number(env, "PAWL_STREAM_SECONDS", 0, least=0),
            edge_port=_number(env, "PAWL_EDGE_PORT", 8080, least=1),
            secrets_prefix=env.get("PAWL_SECRETS_PREFIX") or "/pawl/secrets",
            email_from=env.get("PAWL_EMAIL_FROM") or None,
            outbox=env.get("PAWL_OUTBOX") or None,
            model_url=env.get("PAWL_MODEL_URL") or None,
            model_name=env.get("PAWL_MODEL_NAME") or None,
            model_key=env.get("PAWL_MODEL_KEY") or None,
            model_key_parameter=env.get("PAWL_MODEL_KEY_PARAMETER") or None,
            laptop=_flag(env, "PAWL_LAPTOP"),
        )
        _check_model(config)
        if config.outbox is not None and config.email_from is None:
            raise InvalidSetting("PAWL_EMAIL_FROM is not set, and PAWL_OUTBOX is")
        return config


def _required(env: Mapping[str, str], name: str) -> str:
    if not env.get(name):
        raise InvalidSetting(f"{name} is not set")
    return env[name]


def _number(env: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = env.get(name) or str(default)
    if not (text.isascii() and text.isdecimal()) or int(text) < least:
        raise InvalidSetting(f"{name} must be a whole number, {least} or more, and is {text!r}")
    return int(text)


def _flag(env: Mapping[str, str], name: str) -> bool:
    text = env.get(name) or "0"
    if text not in ("0", "1"):
        raise InvalidSetting(f"{name} must be 0 or 1, and is {text!r}")
    return text == "1"


def _check_model(config: Config) -> None:
    if config.model_url is None:
        return
    if not config.model_url.startswith(("http://", "https://")):
        raise InvalidSetting(f"PAWL_MODEL_URL must begin with http:// or https://, and is {config.model_url!r}")
    if config.model_name is None:
        raise InvalidSetting("PAWL_MODEL_NAME is not set, and PAWL_MODEL_URL is")
