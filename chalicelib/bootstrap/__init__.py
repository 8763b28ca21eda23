"""The one place where adapters meet ports.

Each part of the world is made when it is first asked for, and what it needs is imported then: a Lambda that looks up an
API key pays for one client, not for four.
"""

from __future__ import annotations

import os
from functools import cache

from chalicelib.bootstrap.services import Services
from chalicelib.bootstrap.tools import Tools
from chalicelib.config import Config


class World(Tools, Services):
    """What the use cases take their ports from."""


@cache
def world() -> World:
    """The world that the environment describes."""
    return World(Config.from_env(os.environ))
