"""Every setting, read once and checked. An invalid one stops the start and is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.core import slots
from chalicelib.core.egress import HostPattern
from chalicelib.core.errors import EgressRefused

SANDBOXES = ("off", "auto", "bubblewrap", "landlock", "lambda")


class InvalidSetting(Exception):  # noqa: N818 - named by what happened
    """A variable of the environment that cannot be meant."""


SHORTEST_SECRET = 32
"""Characters. Whoever guesses the secret is everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """`steps_per_slice` 0: as many as fit. A secret stands here (laptop) or in the SSM parameter named here: a model's
    key, and what tickets are signed with. Sockets are reached at `socket_endpoint`; None: where the SDK finds it.

    An account has at most `runs_at_once` at work.
    A stream of the edge, which listens on `edge_port`, ends after `stream_seconds` (0: with its run).
    Mail goes out from `email_from`, through SES or into the folder `outbox` where there is one; without a sender there
    is no tool for it. The secrets of accounts' tools are SSM parameters under `secrets_prefix`.
    `sandbox`: what contains code, `lambda` for the function `sandbox_function`; with `off` no code is run. Code may
    reach `sandbox_hosts`, patterns of names, and nothing else.
    `s3_url` is the endpoint by which callers reach S3, where that is not AWS's own. On a `laptop` an agent's MCP
    servers may be this machine's own, unencrypted.
    A finished run is archived after `retention_hours`; a client more than `replay_cap` events behind gets a snapshot.
    What is announced goes to `event_bus` and to webhooks; `loopback_webhooks`: those may be on this machine.
    """

    table: str
    bucket: str
    state_machine_arn: str
    steps_per_slice: int = 0
    runs_at_once: int = slots.CAP
    retention_hours: int = 24
    replay_cap: int = 1_000
    stream_seconds: int = 0
    edge_port: int = 8080
    event_bus: str | None = None
    webhook_queue_url: str | None = None
    loopback_webhooks: bool = False
    secrets_prefix: str = "/pawl/secrets"
    email_from: str | None = None
    outbox: str | None = None
    sandbox: str = "off"
    sandbox_function: str | None = None
    sandbox_hosts: tuple[str, ...] = ()
    model_url: str | None = None
    model_name: str | None = None
    model_key: str | None = None
    model_key_parameter: str | None = None
    ticket_secret: str | None = None
    ticket_secret_parameter: str | None = None
    socket_endpoint: str | None = None
    laptop: bool = False
    s3_url: str | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Read the settings. An empty variable is one that is not set. Raises `InvalidSetting`."""
        config = cls(
            table=_required(env, "PAWL_TABLE"),
            bucket=_required(env, "PAWL_BUCKET"),
            state_machine_arn=_required(env, "PAWL_STATE_MACHINE_ARN"),
            steps_per_slice=_number(env, "STEPS_PER_SLICE", 0, least=0),
            runs_at_once=_number(env, "RUNS_AT_ONCE", slots.CAP, least=1, most=slots.MOST),
            retention_hours=_number(env, "RETENTION_HOURS", 24, least=1),
            replay_cap=_number(env, "REPLAY_CAP", 1_000, least=1),
            stream_seconds=_number(env, "PAWL_STREAM_SECONDS", 0, least=0),
            edge_port=_number(env, "PAWL_EDGE_PORT", 8080, least=1),
            event_bus=env.get("PAWL_EVENT_BUS") or None,
            webhook_queue_url=env.get("PAWL_WEBHOOK_QUEUE_URL") or None,
            loopback_webhooks=_flag(env, "PAWL_LOOPBACK_WEBHOOKS"),
            secrets_prefix=env.get("PAWL_SECRETS_PREFIX") or "/pawl/secrets",
            email_from=env.get("PAWL_EMAIL_FROM") or None,
            outbox=env.get("PAWL_OUTBOX") or None,
            sandbox=_one_of(env, "PAWL_SANDBOX", SANDBOXES),
            sandbox_function=env.get("PAWL_SANDBOX_FUNCTION") or None,
            sandbox_hosts=_hosts(env, "PAWL_SANDBOX_HOSTS"),
            model_url=env.get("PAWL_MODEL_URL") or None,
            model_name=env.get("PAWL_MODEL_NAME") or None,
            model_key=env.get("PAWL_MODEL_KEY") or None,
            model_key_parameter=env.get("PAWL_MODEL_KEY_PARAMETER") or None,
            ticket_secret=env.get("PAWL_TICKET_SECRET") or None,
            ticket_secret_parameter=env.get("PAWL_TICKET_SECRET_PARAMETER") or None,
            socket_endpoint=env.get("PAWL_SOCKET_ENDPOINT") or None,
            laptop=_flag(env, "PAWL_LAPTOP"),
            s3_url=env.get("PAWL_S3_URL") or None,
        )
        _check_model(config)
        _check_ticket_secret(config)
        if config.outbox is not None and config.email_from is None:
            raise InvalidSetting("PAWL_EMAIL_FROM is not set, and PAWL_OUTBOX is")
        _check_sandbox(config)
        return config


def _required(env: Mapping[str, str], name: str) -> str:
    if not env.get(name):
        raise InvalidSetting(f"{name} is not set")
    return env[name]


def _number(env: Mapping[str, str], name: str, default: int, *, least: int, most: int | None = None) -> int:
    text = env.get(name) or str(default)
    if not (text.isascii() and text.isdecimal()) or int(text) < least or (most is not None and int(text) > most):
        limit = "or more" if most is None else f"to {most}"
        raise InvalidSetting(f"{name} must be a whole number, {least} {limit}, and is {text!r}")
    return int(text)


def _flag(env: Mapping[str, str], name: str) -> bool:
    text = env.get(name) or "0"
    if text not in ("0", "1"):
        raise InvalidSetting(f"{name} must be 0 or 1, and is {text!r}")
    return text == "1"


def _one_of(env: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    """The first of `known` where nothing is set."""
    found = env.get(name) or known[0]
    if found not in known:
        raise InvalidSetting(f"{name} must be one of {', '.join(known)}, and is {found!r}")
    return found


def _hosts(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    found = tuple(each.strip() for each in env.get(name, "").split(",") if each.strip())
    for each in found:
        try:
            HostPattern.parse(each)
        except EgressRefused as refused:
            raise InvalidSetting(f"{name} holds {each!r}: {refused.detail}") from refused
    return found


def _check_sandbox(config: Config) -> None:
    if config.sandbox == "lambda" and config.sandbox_hosts:
        raise InvalidSetting("PAWL_SANDBOX_HOSTS is set, and PAWL_SANDBOX is lambda: there code has no network")
    if config.sandbox == "lambda" and config.sandbox_function is None:
        raise InvalidSetting("PAWL_SANDBOX_FUNCTION is not set, and PAWL_SANDBOX is lambda")


def _check_model(config: Config) -> None:
    if config.model_url is None:
        return
    if not config.model_url.startswith(("http://", "https://")):
        raise InvalidSetting(f"PAWL_MODEL_URL must begin with http:// or https://, and is {config.model_url!r}")
    if config.model_name is None:
        raise InvalidSetting("PAWL_MODEL_NAME is not set, and PAWL_MODEL_URL is")


def _check_ticket_secret(config: Config) -> None:
    if config.ticket_secret is not None and len(config.ticket_secret) < SHORTEST_SECRET:
        raise InvalidSetting(f"PAWL_TICKET_SECRET must have {SHORTEST_SECRET} characters or more")
