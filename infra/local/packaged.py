"""The local cloud of the real package: what is built for AWS, with the laptop's settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chalicelib import bootstrap
from chalicelib.ports.clock import Clock
from infra.build import build, for_moto
from infra.local import speed
from infra.local.cloud import Options
from infra.local.refusals import Refusals
from infra.local.speed import FastTime

STAGE = "local"

PARAMETERS = {
    "STEPS_PER_SLICE": "StepsPerSlice",
    "RUNS_AT_ONCE": "RunsAtOnce",
    "RETENTION_HOURS": "RetentionHours",
    "REPLAY_CAP": "ReplayCap",
    "PAWL_MODEL_URL": "ModelUrl",
    "PAWL_MODEL_NAME": "ModelName",
    "PAWL_LOG_LEVEL": "LogLevel",
}
"""Which variables of the shell become which parameters of the stack."""

SECRETS = ("PAWL_MODEL_KEY", "PAWL_TICKET_SECRET")
"""Variables that go straight to the functions: in AWS they would come from the parameter store. What tickets are signed
with is new at each start, unless it is given."""

LAPTOP_ONLY = ("PAWL_LOOPBACK_WEBHOOKS", "PAWL_SANDBOX", "PAWL_SANDBOX_HOSTS")
"""Variables that no deployment takes from a shell. Code is contained by the strongest wall, unless one is named."""


OUTBOX = Path(".pawl", "outbox")
"""Where mail goes on the laptop, below the folder in which it was started: nothing is sent."""


def options(settings: Mapping[str, str], time: FastTime | None = None, **more: Any) -> Options:
    """Options for the package as it is now, built if need be. `settings` is the shell's environment."""
    if time is not None:
        more["clock"] = time
    built = build()
    given = {parameter: settings[name] for name, parameter in PARAMETERS.items() if settings.get(name)}
    return Options(
        template=for_moto(built.transformed),
        refusals=Refusals.of_template(built.transformed),
        parameters={"Stage": STAGE, **given},
        environment={
            "PAWL_TICKET_SECRET": os.urandom(32).hex(),
            "PAWL_SANDBOX": "auto",
            **{name: settings[name] for name in (*SECRETS, *LAPTOP_ONLY) if settings.get(name)},
            "PAWL_LAPTOP": "1",
            "PAWL_EMAIL_FROM": settings.get("PAWL_EMAIL_FROM") or "pawl@laptop.invalid",
            "PAWL_OUTBOX": settings.get("PAWL_OUTBOX") or str(OUTBOX.absolute()),
            **({speed.VARIABLE: str(time)} if time else {}),
        },
        around=_world,
        **more,
    )


@contextmanager
def _world(clock: Clock) -> Iterator[None]:
    """In this process all functions share one world; it has the local clock, and ends with the cloud."""
    bootstrap.world.cache_clear()
    world = bootstrap.world()
    world.clock = clock
    if isinstance(clock, FastTime):
        world.crew = clock
    try:
        yield
    finally:
        bootstrap.world.cache_clear()
