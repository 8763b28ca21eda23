"""The key that the laptop's own clients find by themselves."""

from __future__ import annotations

import os
from pathlib import Path

from chalicelib.bootstrap import World
from chalicelib.core import api_key
from chalicelib.core.api_key import Scope
from chalicelib.usecases.make_key import make_key

ACCOUNT, NAME = "dev", "development"


def provide(path: Path, world: World) -> None:
    """Have a key in `path` that counts: the one that is there, if it still does, or a new one."""
    if path.exists():
        found = world.keys.find(api_key.digest(path.read_text().strip()))
        if found is not None and found.revoked_at is None:
            return
    _, secret = make_key(
        NAME, frozenset(Scope), account_id=ACCOUNT, keys=world.keys, clock=world.clock, chance=world.chance
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_privately(path, secret)


def _write_privately(path: Path, secret: str) -> None:
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret + "\n")
    fresh.replace(path)
