"""The Python client of a Pawl server; `pawl` on the command line is made of it and of nothing else."""

from pawl_client.client import PawlClient
from pawl_client.errors import LogBroken, Misconfigured, NotAsked, PawlError, Trouble, Unreachable
from pawl_client.follow import Back, Lost, follow
from pawl_client.pace import Pace
from pawl_client.wire import Event, Json, Page

__all__ = [
    "Back",
    "Event",
    "Json",
    "LogBroken",
    "Lost",
    "Misconfigured",
    "NotAsked",
    "Pace",
    "Page",
    "PawlClient",
    "PawlError",
    "Trouble",
    "Unreachable",
    "follow",
]
